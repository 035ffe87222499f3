#pragma once

#include <heed/core/generator.hpp>
#include <heed/core/transform.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/causal_attention.hpp>
#include <heed/nn/module_interface.hpp>
#include <heed/nn/parameter.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace heed::inline HEED_FLAGS {

/// Several CausalAttentions side by side: the output is their outputs one after another, ℝ^{b×t×(h·d_out)}. Uses all
/// fields of the config; d_out is that of one head. Heads are drawn one after another (the book's
/// MultiHeadAttentionWrapper).
template <class T = float>
class MultiHeadAttentionWrapper : public detail::ModuleInterface<MultiHeadAttentionWrapper<T>, T> {
 public:
  static constexpr const char* name = "heed::MultiHeadAttentionWrapper";
  static constexpr bool is_causal = true;
  static constexpr bool heads_first = true;

  MultiHeadAttentionWrapper(const AttentionConfig& config, Generator& rng)
      : config_(detail::checked_multi_head_config(name, config)) {
    detail::check_sizes(name, Shape<3>(config.num_heads, config.d_out, config.d_in));
    heads_.reserve(static_cast<std::size_t>(config.num_heads));
    for (Index h = 0; h < config.num_heads; ++h) heads_.emplace_back(config, rng);
  }

  Index d_in() const { return config_.d_in; }
  /// Of all heads together.
  Index d_out() const { return num_heads() * config_.d_out; }
  Index num_heads() const { return config_.num_heads; }
  Index context_length() const { return config_.context_length; }
  double dropout() const { return config_.dropout; }

  /// One head, counted from 0; ShapeError if there is none. One that replaces it must keep its sizes, else the next
  /// call throws ShapeError.
  CausalAttention<T>& head(Index h) & { return heads_[checked(h)]; }
  const CausalAttention<T>& head(Index h) const& { return heads_[checked(h)]; }
  void head(Index h) const&& = delete;  // it would outlive the module

  /// "heads.0.W_query.weight" …
  std::vector<Parameter<T>> parameters() & { return parameters_of<T>(heads_); }
  std::vector<Parameter<const T>> parameters() const& { return parameters_of<const T>(heads_); }
  void parameters() const&& = delete;  // they would outlive the module

 private:
  friend detail::ModuleInterface<MultiHeadAttentionWrapper<T>, T>;

  std::size_t checked(Index h) const {
    if (h < 0 || h >= static_cast<Index>(heads_.size()))
      detail::fail_shape({name, ": there is no head ", std::to_string(h), " among ", std::to_string(num_heads())});
    return static_cast<std::size_t>(h);
  }

  void check_layers(const char* function) const {
    if (static_cast<Index>(heads_.size()) != num_heads()) detail::fail_shape({function, ": its heads were moved from"});
    for (const CausalAttention<T>& head : heads_) {
      if (head.context_length() != context_length() || head.dropout() != dropout())
        detail::fail_shape({function, ": a head has another context_length or dropout than the module"});
      if (head.d_in() != d_in() || head.d_out() != config_.d_out)
        detail::fail_shape({function, ": a head maps ", std::to_string(head.d_in()), " features to ",
                            std::to_string(head.d_out()), ", but the module needs ", std::to_string(d_in()), " to ",
                            std::to_string(config_.d_out)});
      head.check_layers(function);
    }
  }

  template <class F>
  void each_parameter(const F& f) const {
    for (const CausalAttention<T>& head : heads_) head.each_parameter(f);
  }

  /// Each head's queries, keys and values in its columns, ℝ^{b×t×(h·d)} and ℝ^{b×s×(h·d)}.
  detail::Projected<T> project(const TensorView<const T, 3>& x, const TensorView<const T, 3>& context) const {
    const Shape<3> x_shape(x.shape()[0], x.shape()[1], d_out());
    const Shape<3> context_shape(x.shape()[0], context.shape()[1], d_out());
    detail::Projected<T> all{Tensor<T, 3>(x_shape), Tensor<T, 3>(context_shape), Tensor<T, 3>(context_shape)};
    const Index width = config_.d_out;
    for (Index h = 0; h < num_heads(); ++h) {
      const auto part = [&](Tensor<T, 3>& whole) { return slice(whole, 2, h * width, (h + 1) * width); };
      head(h).W_query().into(part(all.queries), x);
      head(h).W_key().into(part(all.keys), context);
      head(h).W_value().into(part(all.values), context);
    }
    return all;
  }

  template <class Element, class Heads>
  static std::vector<Parameter<Element>> parameters_of(Heads& heads) {
    std::vector<Parameter<Element>> all;
    for (std::size_t h = 0; h < heads.size(); ++h)
      detail::append_parameters(all, detail::joined({"heads.", std::to_string(h)}), heads[h].parameters());
    return all;
  }

  AttentionConfig config_;
  std::vector<CausalAttention<T>> heads_;
};

}  // namespace heed
