// expect: a random source or heed::dropout, not both
#include <heed/heed.hpp>

void f(const heed::SelfAttention_v2<>& attention, const heed::Tensor<float, 2>& x, heed::Generator& rng) {
  const heed::Philox philox;
#ifdef HEED_BAD
  attention(x, rng, heed::dropout(0.5, philox));
#else
  attention(x, heed::dropout(0.5, philox));
  attention(x, rng);
#endif
}
