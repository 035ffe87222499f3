// expect: logsumexp, scores, final_scores and weights have the scalar type of the tensors
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          heed::Tensor<double, 3>& wide, heed::Tensor<float, 3>& lse) {
#ifdef HEED_BAD
  attention(x, heed::logsumexp(wide));
  static_cast<void>(lse);
#else
  attention(x, heed::logsumexp(lse));
  static_cast<void>(wide);
#endif
}
