// expect: logsumexp has the queries. rank less one
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          heed::Tensor<float, 3>& lse) {
#ifdef HEED_BAD
  attention(x, heed::logsumexp(lse[0]));
#else
  attention(x, heed::logsumexp(lse));
  attention(x[0], heed::logsumexp(lse[0]));
#endif
}
