// expect: x must have the scalar type of the layer
#include <heed/heed.hpp>

void call(const heed::Dropout<float>& dropout, const heed::Tensor<double, 2>& x, const heed::Tensor<float, 2>& y) {
#ifdef HEED_BAD
  dropout(x);
  dropout(y);
#else
  dropout(y);
  static_cast<void>(x);
#endif
}
