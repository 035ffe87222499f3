#pragma once

#include <heed/core/generator.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/module_interface.hpp>
#include <heed/nn/query_key_value.hpp>

namespace heed::inline HEED_FLAGS {

/// SelfAttention_v1 with Linear layers, whose initial weights train better. Every token sees every token. Uses d_in,
/// d_out and qkv_bias of the config (the book's SelfAttention_v2).
template <class T = float>
class SelfAttention_v2 : public detail::ModuleInterface<SelfAttention_v2<T>, T>, public detail::QueryKeyValue<T> {
 public:
  static constexpr const char* name = "heed::SelfAttention_v2";
  static constexpr bool is_causal = false;

  SelfAttention_v2(const AttentionConfig& config, Generator& rng)
      : detail::QueryKeyValue<T>(detail::checked_config(name, config), rng) {}

  Index num_heads() const { return 1; }
};

}  // namespace heed
