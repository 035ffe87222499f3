// expect: a call advances its random source, which must not be const
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          const heed::Generator& rng) {
#ifdef HEED_BAD
  attention(x, rng);
#else
  heed::Generator copy = rng;
  attention(x, copy);
#endif
}
