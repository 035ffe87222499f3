// expect: a call advances its random source, which must not be const
#include <heed/heed.hpp>

void call(const heed::SelfAttention_v2<float>& attention, const heed::Tensor<float, 3>& x, const heed::Philox& philox) {
#ifdef HEED_BAD
  attention.weights(x, philox);
#else
  heed::Philox copy = philox;
  attention.weights(x, copy);
#endif
}
