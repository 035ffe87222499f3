// expect: heed: context must have the rank and the scalar type of x
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x) {
#ifdef HEED_BAD
  attention(x, x[0]);
#else
  attention(x, x);
#endif
}
