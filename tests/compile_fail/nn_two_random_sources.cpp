// expect: a call takes one random source
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x, heed::Generator& rng,
          heed::Philox& philox) {
#ifdef HEED_BAD
  attention(x, rng, philox);
#else
  attention(x, rng);
  attention(x, philox);
#endif
}
