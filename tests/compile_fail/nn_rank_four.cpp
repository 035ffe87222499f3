// expect: x must have rank 2 .one sequence. or 3 .a batch.
#include <heed/heed.hpp>

void call(const heed::CausalAttention<float>& attention, const heed::Tensor<float, 4>& x) {
#ifdef HEED_BAD
  attention.weights(x);
#else
  attention.weights(x[0]);
#endif
}
