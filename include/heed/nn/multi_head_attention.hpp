#pragma once

#include <heed/core/generator.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/linear.hpp>
#include <heed/nn/module_interface.hpp>
#include <heed/nn/parameter.hpp>
#include <heed/nn/query_key_value.hpp>

#include <string>
#include <vector>

namespace heed::inline HEED_FLAGS {

/// Causal attention in num_heads heads that share d_out among them, followed by a linear layer with bias that mixes the
/// heads. Uses all fields of the config; d_out is a multiple of num_heads, else ShapeError (the book's
/// MultiHeadAttention).
template <class T = float>
class MultiHeadAttention : public detail::ModuleInterface<MultiHeadAttention<T>, T>, public detail::QueryKeyValue<T> {
 public:
  static constexpr const char* name = "heed::MultiHeadAttention";
  static constexpr bool is_causal = true;
  static constexpr bool heads_first = false;

  MultiHeadAttention(const AttentionConfig& config, Generator& rng)
      : detail::QueryKeyValue<T>(checked(config), rng),
        out_proj_(config.d_out, config.d_out, true, rng),
        context_length_(config.context_length),
        dropout_(config.dropout),
        num_heads_(config.num_heads) {}

  Index num_heads() const { return num_heads_; }
  Index context_length() const { return context_length_; }
  double dropout() const { return dropout_; }

  /// Mixes the heads. One that replaces it must keep its sizes, else the next call throws ShapeError.
  Linear<T>& out_proj() & { return out_proj_; }
  const Linear<T>& out_proj() const& { return out_proj_; }
  void out_proj() const&& = delete;  // it would outlive the module

  /// "W_query.weight", "W_query.bias" … "out_proj.weight", "out_proj.bias".
  std::vector<Parameter<T>> parameters() & {
    auto all = detail::QueryKeyValue<T>::parameters();
    detail::append_parameters(all, "out_proj", out_proj_.parameters());
    return all;
  }
  std::vector<Parameter<const T>> parameters() const& {
    auto all = detail::QueryKeyValue<T>::parameters();
    detail::append_parameters(all, "out_proj", out_proj_.parameters());
    return all;
  }
  void parameters() const&& = delete;  // they would outlive the module

 private:
  friend detail::ModuleInterface<MultiHeadAttention<T>, T>;

  void check_layers(const char* function) const {
    detail::QueryKeyValue<T>::check_layers(function);
    detail::check_layer(function, "out_proj", out_proj_, this->d_out(), this->d_out());
  }

  template <class F>
  void each_parameter(const F& f) const {
    detail::QueryKeyValue<T>::each_parameter(f);
    detail::each_parameter_of(out_proj_, f);
  }

  static const AttentionConfig& checked(const AttentionConfig& config) {
    detail::checked_multi_head_config(name, config);
    if (config.d_out % config.num_heads != 0)
      detail::fail_shape({name, ": d_out ", std::to_string(config.d_out), " is not a multiple of num_heads ",
                          std::to_string(config.num_heads)});
    return config;
  }

  Linear<T> out_proj_;
  Index context_length_;
  double dropout_;
  Index num_heads_;
};

}  // namespace heed
