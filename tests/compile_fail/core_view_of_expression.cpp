// expect: no matching function.*call to.*view
#include <heed/core/tensor_like.hpp>

int main() {
  const Eigen::MatrixXf m = Eigen::MatrixXf::Ones(2, 3);
#ifdef HEED_BAD
  const auto v = heed::view(m + m);
  static_cast<void>(v);
#else
  const auto v = heed::view(m);
  static_cast<void>(v);
#endif
}
