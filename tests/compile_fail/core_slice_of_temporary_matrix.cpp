// expect: (no matching function.*call to|deleted function).*slice
#include <heed/core/transform.hpp>

int main() {
  const Eigen::MatrixXf x(2, 3);
#ifdef HEED_BAD
  const auto v = heed::slice(Eigen::MatrixXf(x), 0, 0, 1);
  static_cast<void>(v);
#else
  const auto v = heed::slice(x, 0, 0, 1);
  static_cast<void>(v);
#endif
}
