#pragma once

#include <heed/core/error.hpp>
#include <heed/core/shape.hpp>

#include <string>

namespace heed {

/// What the attention modules are built from. A module ignores the fields it has no use for; new fields are appended.
struct AttentionConfig {
  Index d_in = 0;            ///< Features of an input token.
  Index d_out = 0;           ///< Features of an output token (MultiHeadAttentionWrapper: of each head).
  Index context_length = 0;  ///< The longest sequence x that a causal module takes.
  double dropout = 0.0;      ///< Probability of dropping a weight when a call is given a random source, in [0, 1].
  Index num_heads = 1;       ///< MultiHeadAttention divides d_out among them.
  bool qkv_bias = false;     ///< Whether the query, key and value projections have a bias.
};

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

inline void check_positive(const char* function, const char* field, Index value) {
  if (value <= 0)
    fail_shape({function, ": ", field, " must be positive, got ", std::to_string(value),
                value == 0 ? " (is it missing?)" : ""});
}

inline void check_probability(const char* function, const char* field, double value) {
  if (!(value >= 0 && value <= 1)) fail_value({function, ": ", field, " must lie in [0, 1], got ", number(value)});
}

// Each returns the config, so that a constructor can check it before its first member draws random numbers.

inline const AttentionConfig& checked_config(const char* function, const AttentionConfig& config) {
  check_positive(function, "d_in", config.d_in);
  check_positive(function, "d_out", config.d_out);
  return config;
}

inline const AttentionConfig& checked_causal_config(const char* function, const AttentionConfig& config) {
  checked_config(function, config);
  check_positive(function, "context_length", config.context_length);
  check_probability(function, "dropout", config.dropout);
  return config;
}

inline const AttentionConfig& checked_multi_head_config(const char* function, const AttentionConfig& config) {
  checked_causal_config(function, config);
  check_positive(function, "num_heads", config.num_heads);
  return config;
}

}  // namespace heed::detail
