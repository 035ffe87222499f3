#pragma once

#include <heed/core/generator.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/linear.hpp>
#include <heed/nn/module_interface.hpp>
#include <heed/nn/parameter.hpp>

#include <vector>

namespace heed::detail::inline HEED_FLAGS {

/// The three layers of a module that projects by Linear layers: drawn in this order, d_in → d_out.
template <class T>
class QueryKeyValue {
 public:
  Index d_in() const { return d_in_; }
  Index d_out() const { return d_out_; }

  /// The layers. One that is replaced must keep its sizes, else the next call throws ShapeError.
  Linear<T>& W_query() & { return W_query_; }
  Linear<T>& W_key() & { return W_key_; }
  Linear<T>& W_value() & { return W_value_; }
  const Linear<T>& W_query() const& { return W_query_; }
  void W_query() const&& = delete;  // it would outlive the module
  const Linear<T>& W_key() const& { return W_key_; }
  void W_key() const&& = delete;  // it would outlive the module
  const Linear<T>& W_value() const& { return W_value_; }
  void W_value() const&& = delete;  // it would outlive the module

  /// "W_query.weight", "W_query.bias" …
  std::vector<Parameter<T>> parameters() & { return parameters_of<T>(*this); }
  std::vector<Parameter<const T>> parameters() const& { return parameters_of<const T>(*this); }
  void parameters() const&& = delete;  // they would outlive the module

  /// ShapeError if a layer no longer has the sizes it was made with.
  void check_layers(const char* function) const {
    check_layer(function, "W_query", W_query_, d_in_, d_out_);
    check_layer(function, "W_key", W_key_, d_in_, d_out_);
    check_layer(function, "W_value", W_value_, d_in_, d_out_);
  }

  /// f(view) for every weight and bias.
  template <class F>
  void each_parameter(const F& f) const {
    each_parameter_of(W_query_, f);
    each_parameter_of(W_key_, f);
    each_parameter_of(W_value_, f);
  }

 protected:
  /// The config is checked already.
  QueryKeyValue(const AttentionConfig& config, Generator& rng)
      : d_in_(config.d_in),
        d_out_(config.d_out),
        W_query_(config.d_in, config.d_out, config.qkv_bias, rng),
        W_key_(config.d_in, config.d_out, config.qkv_bias, rng),
        W_value_(config.d_in, config.d_out, config.qkv_bias, rng) {}

 private:
  template <class Module, class Scalar>
  friend class ModuleInterface;

  Projected<T> project(const TensorView<const T, 3>& x, const TensorView<const T, 3>& context) const {
    return {W_query_(x), W_key_(context), W_value_(context)};
  }

  template <class Element, class Self>
  static std::vector<Parameter<Element>> parameters_of(Self& self) {
    std::vector<Parameter<Element>> all;
    append_parameters(all, "W_query", self.W_query_.parameters());
    append_parameters(all, "W_key", self.W_key_.parameters());
    append_parameters(all, "W_value", self.W_value_.parameters());
    return all;
  }

  Index d_in_, d_out_;
  Linear<T> W_query_, W_key_, W_value_;
};

}  // namespace heed::detail
