// expect: x and out must have the scalar type of the layer
#include <heed/heed.hpp>

void call(const heed::Linear<double>& linear, const heed::Tensor<float, 2>& x, const heed::Tensor<double, 2>& y) {
#ifdef HEED_BAD
  linear(x);
  linear(y);
#else
  linear(y);
  static_cast<void>(x);
#endif
}
