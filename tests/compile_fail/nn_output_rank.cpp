// expect: out must have the rank and the scalar type of x
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          heed::Tensor<float, 3>& out) {
#ifdef HEED_BAD
  attention.into(out, x[0]);
#else
  attention.into(out[0], x[0]);
#endif
}
