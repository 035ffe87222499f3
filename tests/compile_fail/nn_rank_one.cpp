// expect: x must have rank 2 .one sequence. or 3 .a batch.
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 2>& x) {
#ifdef HEED_BAD
  attention(x[0]);
#else
  attention(x);
#endif
}
