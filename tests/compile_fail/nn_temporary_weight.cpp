// expect: deleted
#include <heed/heed.hpp>

void call(const heed::AttentionConfig& config, heed::Generator& rng) {
#ifdef HEED_BAD
  heed::TensorView<float, 2> weight = heed::SelfAttention_v1<float>(config, rng).W_query();
#else
  heed::SelfAttention_v1<float> attention(config, rng);
  heed::TensorView<float, 2> weight = attention.W_query();
#endif
}
