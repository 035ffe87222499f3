// expect: deleted
#include <heed/heed.hpp>

void f(const heed::AttentionConfig& config, heed::Generator& rng) {
#ifdef HEED_BAD
  const auto& layer = heed::MultiHeadAttention<>(config, rng).out_proj();
#else
  const heed::MultiHeadAttention<> attention(config, rng);
  const auto& layer = attention.out_proj();
#endif
  static_cast<void>(layer);
}
