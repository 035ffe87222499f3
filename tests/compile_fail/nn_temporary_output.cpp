// expect: the output is a temporary that owns its elements
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          heed::Tensor<float, 3>& out) {
#ifdef HEED_BAD
  attention.into(heed::Tensor<float, 3>(out.shape()), x);
#else
  attention.into(heed::view(out), x);
#endif
}
