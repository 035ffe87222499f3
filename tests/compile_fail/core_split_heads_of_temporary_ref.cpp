// expect: (no matching function.*call to|deleted function).*split_heads
#include <heed/core/transform.hpp>

int main() {
  const Eigen::MatrixXf x(2, 3);
#ifdef HEED_BAD
  const auto v = heed::split_heads(Eigen::Ref<const Eigen::MatrixXf>(x), 1);
  static_cast<void>(v);
#else
  const auto v = heed::split_heads(x, 1);
  static_cast<void>(v);
#endif
}
