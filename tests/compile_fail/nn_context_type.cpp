// expect: heed: context must have the rank and the scalar type of x
#include <heed/heed.hpp>

void call(const heed::SelfAttention_v1<float>& attention, const heed::Tensor<float, 3>& x) {
#ifdef HEED_BAD
  attention(x, heed::Tensor<double, 3>(x.shape()));
#else
  attention(x, heed::Tensor<float, 3>(x.shape()));
#endif
}
