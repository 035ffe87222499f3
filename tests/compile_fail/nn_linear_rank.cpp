// expect: x and out must have the same rank
#include <heed/heed.hpp>

void call(const heed::Linear<float>& linear, const heed::Tensor<float, 2>& x, heed::Tensor<float, 2>& out) {
#ifdef HEED_BAD
  linear.into(out[0], x);
#else
  linear.into(out[0], x[0]);
#endif
}
