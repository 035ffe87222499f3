#pragma once

#include <heed/core/generator.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/linear.hpp>
#include <heed/nn/module_interface.hpp>
#include <heed/nn/parameter.hpp>

#include <vector>

namespace heed::inline HEED_FLAGS {

/// Self-attention with plain weight matrices ℝ^{d_in×d_out}: queries x·W_query, and so on. Every token sees every
/// token. Uses d_in and d_out of the config. Weights are drawn uniformly from [0, 1): query, key, value (the book's
/// SelfAttention_v1).
template <class T = float>
class SelfAttention_v1 : public detail::ModuleInterface<SelfAttention_v1<T>, T> {
 public:
  static constexpr const char* name = "heed::SelfAttention_v1";
  static constexpr bool is_causal = false;

  SelfAttention_v1(const AttentionConfig& config, Generator& rng)
      : W_query_(drawn(detail::checked_config(name, config), rng)),
        W_key_(drawn(config, rng)),
        W_value_(drawn(config, rng)) {}

  Index d_in() const { return W_query_.shape()[0]; }
  Index d_out() const { return W_value_.shape()[1]; }
  Index num_heads() const { return 1; }

  /// ℝ^{d_in×d_out}.
  TensorView<T, 2> W_query() & { return view(W_query_); }
  TensorView<T, 2> W_key() & { return view(W_key_); }
  TensorView<T, 2> W_value() & { return view(W_value_); }
  TensorView<const T, 2> W_query() const& { return view(W_query_); }
  TensorView<const T, 2> W_key() const& { return view(W_key_); }
  TensorView<const T, 2> W_value() const& { return view(W_value_); }
  void W_query() const&& = delete;  // the view would outlive the module
  void W_key() const&& = delete;
  void W_value() const&& = delete;

  /// "W_query", "W_key", "W_value".
  std::vector<Parameter<T>> parameters() & { return parameters_of(*this); }
  std::vector<Parameter<const T>> parameters() const& { return parameters_of(*this); }
  void parameters() const&& = delete;  // they would outlive the module

 private:
  friend detail::ModuleInterface<SelfAttention_v1<T>, T>;

  static Tensor<T, 2> drawn(const AttentionConfig& config, Generator& rng) {
    return rand<T>(rng, config.d_in, config.d_out);
  }

  void check_layers(const char*) const {}

  template <class F>
  void each_parameter(const F& f) const {
    f(view(W_query_));
    f(view(W_key_));
    f(view(W_value_));
  }

  detail::Projected<T> project(const TensorView<const T, 3>& x, const TensorView<const T, 3>& context) const {
    return {times(x, W_query_), times(context, W_key_), times(context, W_value_)};
  }

  static Tensor<T, 3> times(const TensorView<const T, 3>& x, const Tensor<T, 2>& weight) {
    Tensor<T, 3> product(x.shape()[0], x.shape()[1], weight.shape()[1]);
    detail::project<T, 3>(product, x, weight, {});
    return product;
  }

  template <class Self>
  static auto parameters_of(Self& self) {
    return std::vector{detail::parameter_of("W_query", self.W_query()), detail::parameter_of("W_key", self.W_key()),
                       detail::parameter_of("W_value", self.W_value())};
  }

  Tensor<T, 2> W_query_, W_key_, W_value_;
};

}  // namespace heed
