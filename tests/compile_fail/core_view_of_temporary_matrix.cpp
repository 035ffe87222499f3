// expect: (no matching function.*call to|deleted function).*view
#include <heed/core/tensor_like.hpp>

int main() {
  const Eigen::MatrixXf x(2, 3);
#ifdef HEED_BAD
  const auto v = heed::view(Eigen::MatrixXf(x));
  static_cast<void>(v);
#else
  const auto v = heed::view(x);
  static_cast<void>(v);
#endif
}
