// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttentionWrapper<float>& attention, const heed::Tensor<float, 3>& x) {
#ifdef HEED_BAD
  attention.weights(x, heed::causal_lower_right());
#else
  attention.weights(x);
#endif
}
