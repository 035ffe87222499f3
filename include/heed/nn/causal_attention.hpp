#pragma once

#include <heed/core/generator.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/module_interface.hpp>
#include <heed/nn/query_key_value.hpp>

namespace heed::inline HEED_FLAGS {

/// Self-attention in which a token sees itself and those before it, with dropout of the weights. Uses d_in, d_out,
/// context_length, dropout and qkv_bias of the config (the book's CausalAttention).
template <class T = float>
class CausalAttention : public detail::ModuleInterface<CausalAttention<T>, T>, public detail::QueryKeyValue<T> {
 public:
  static constexpr const char* name = "heed::CausalAttention";
  static constexpr bool is_causal = true;
  static constexpr bool heads_first = false;

  CausalAttention(const AttentionConfig& config, Generator& rng)
      : detail::QueryKeyValue<T>(detail::checked_causal_config(name, config), rng),
        context_length_(config.context_length),
        dropout_(config.dropout) {}

  Index num_heads() const { return 1; }
  Index context_length() const { return context_length_; }
  double dropout() const { return dropout_; }

 private:
  Index context_length_;
  double dropout_;
};

}  // namespace heed
