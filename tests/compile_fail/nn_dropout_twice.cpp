// expect: a random source or heed::dropout, not both
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x, heed::Philox& philox) {
#ifdef HEED_BAD
  attention(x, heed::dropout(0.5, philox), philox);
#else
  attention(x, heed::dropout(0.5, philox));
  attention(x, philox);
#endif
}
