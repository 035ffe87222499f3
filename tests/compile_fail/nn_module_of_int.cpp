// expect: the parameters of a module are float or double
#include <heed/heed.hpp>

void call(const heed::AttentionConfig& config, heed::Generator& rng) {
#ifdef HEED_BAD
  heed::SelfAttention_v2<int> attention(config, rng);
#else
  heed::SelfAttention_v2<double> attention(config, rng);
#endif
}
