// expect: in a module: that of x plus one
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          heed::Tensor<float, 4>& weights) {
#ifdef HEED_BAD
  attention(x, heed::weights(weights[0]));
#else
  attention(x, heed::weights(weights));
  attention(x[0], heed::weights(weights[0]));
#endif
}
