#pragma once

#include <heed/attention/front_door.hpp>
#include <heed/attention/fused.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/core/transform.hpp>
#include <heed/nn/attention_config.hpp>

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::inline HEED_FLAGS {

/// What turns a module's dropout on for one call: a Generator draws as PyTorch does, a Philox by coordinates. The call
/// advances it.
template <class O>
concept RandomSource = std::same_as<std::remove_cvref_t<O>, Generator> || std::same_as<std::remove_cvref_t<O>, Philox>;

/// What may follow the input in a call of a module, in any order.
template <class O>
concept ModuleOption = AttentionModifier<O> || RandomSource<O>;

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// Queries of all heads side by side, ℝ^{b×t×(h·d)}, keys and values ℝ^{b×s×(h·d)}.
template <class T>
struct Projected {
  Tensor<T, 3> queries, keys, values;
};

/// Whether an option is heed::dropout.
template <class O>
inline constexpr bool decides_dropout = false;
template <AttentionModifier O>
inline constexpr bool decides_dropout<O> = std::remove_cvref_t<O>::choice == modifiers::Choice::dropout;

/// The calls that all attention modules share. A module provides these, the last three of which may be private:
///
/// | member                        | what it is                                                               |
/// | ----------------------------- | ------------------------------------------------------------------------ |
/// | `static name`                 | as it stands in error messages                                           |
/// | `static is_causal`            | whether a token of self-attention does not see later ones                |
/// | `d_in()`, `d_out()`           | features of an input and of an output token                              |
/// | `num_heads()`                 |                                                                          |
/// | `context_length()`            | where there is one: the longest sequence                                 |
/// | `dropout()`                   | where there is one: its probability                                      |
/// | `static heads_first`          | with it: whether a Generator draws for one head after another            |
/// | `out_proj()`                  | where there is one: the layer behind attention                           |
/// | `check_layers(function)`      | refuses layers whose sizes are no longer the module's                    |
/// | `each_parameter(f)`           | f(view) for each, to keep outputs apart from them                        |
/// | `project(x, context)`         | x ℝ^{b×t×d_in}, context ℝ^{b×s×d_in}, checked already → Projected        |
template <class Module, class T>
class ModuleInterface {
  static_assert(std::floating_point<T>, "heed: the parameters of a module are float or double");

 public:
  using value_type = T;

  /// Self-attention: x ℝ^{t×d_in} or ℝ^{b×t×d_in} → ℝ^{t×d_out} or ℝ^{b×t×d_out}. Options are modifiers of
  /// scaled_dot_product_attention and a random source, which turns dropout on; a causal module takes no causal() beside
  /// its own. Throws ShapeError if x does not fit; an error advances no random source.
  template <TensorLike X, ModuleOption... O>
  Tensor<T, rank_of<X>> operator()(const X& x, O&&... options) const {
    return attend<false>(x, x, options...);
  }

  /// Cross-attention: queries from x ℝ^{t×d_in}, keys and values from context ℝ^{s×d_in} → ℝ^{t×d_out}, or all three
  /// with a batch ("Attention Is All You Need", Vaswani et al., 2017). The tokens of x see all of the context: its
  /// order has nothing to do with theirs, so a causal module hides none of it, and context_length does not bound it;
  /// `heed::causal()` as an option hides. Throws ShapeError if x or context does not fit; an error advances no random
  /// source.
  ///
  ///     auto out = attention(words, picture, heed::key_lengths({16, 9}));
  template <TensorLike X, TensorLike Context, ModuleOption... O>
  Tensor<T, rank_of<X>> operator()(const X& x, const Context& context, O&&... options) const {
    return attend<true>(x, context, options...);
  }

  /// The same into a tensor, view or Eigen object of the result's shape that shares no element with an input.
  template <TensorLike Out, TensorLike X, ModuleOption... O>
  void into(Out&& out, const X& x, O&&... options) const {
    attend_into<false>(std::forward<Out>(out), x, x, options...);
  }
  /// Cross-attention likewise.
  template <TensorLike Out, TensorLike X, TensorLike Context, ModuleOption... O>
  void into(Out&& out, const X& x, const Context& context, O&&... options) const {
    attend_into<true>(std::forward<Out>(out), x, context, options...);
  }

  /// The attention weights of a call, for looking at: ℝ^{b×h×t×t}, for an x of rank 2 ℝ^{h×t×t}; h is 1 where there are
  /// no heads.
  template <TensorLike X, ModuleOption... O>
  Tensor<T, rank_of<X> + 1> weights(const X& x, O&&... options) const {
    return attend_weights<false>(x, x, options...);
  }
  /// Of cross-attention: ℝ^{b×h×t×s}, for rank 2 ℝ^{h×t×s}.
  template <TensorLike X, TensorLike Context, ModuleOption... O>
  Tensor<T, rank_of<X> + 1> weights(const X& x, const Context& context, O&&... options) const {
    return attend_weights<true>(x, context, options...);
  }

 private:
  const Module& self() const { return static_cast<const Module&>(*this); }

  template <bool Cross, class X, class Context, class... O>
  Tensor<T, rank_of<X>> attend(const X& x, const Context& context, O&... options) const {
    check_inputs<Cross>(x, context);  // before anything is allocated
    auto shape = const_view(x).shape();
    shape[rank_of<X> - 1] = self().d_out();
    Tensor<T, rank_of<X>> out(shape);
    attend_into<Cross>(out, x, context, options...);
    return out;
  }

  template <bool Cross, class Out, class X, class Context, class... O>
  void attend_into(Out&& out, const X& x, const Context& context, O&... options) const {
    check_inputs<Cross>(x, context);
    static_assert(std::same_as<ScalarOf<Out>, T> && rank_of<Out> == rank_of<X>,
                  "heed: out must have the rank and the scalar type of x");
    const auto x_view = const_view(x);
    const auto context_view = const_view(context);
    const auto out_view = output_view(std::forward<Out>(out));
    auto expected = x_view.shape();
    expected[rank_of<X> - 1] = self().d_out();
    check_output_shape(Module::name, out_view.shape(), expected);

    const auto compute = [&](const auto& composition) {
      check_outputs_apart<Cross>(out_view, x_view, context_view, composition);
      const Projected<T> projected = self().project(lift<3>(x_view), lift<3>(context_view));
      const auto into_heads_of = [&](const TensorView<T, 3>& merged_heads) {
        FusedKernel{}.attention(heads_of(merged_heads), heads_of(projected.queries), heads_of(projected.keys),
                                heads_of(projected.values), composition);
      };
      if constexpr (requires { self().out_proj(); }) {
        Tensor<T, 3> merged_heads(projected.queries.shape());
        into_heads_of(merged_heads);
        self().out_proj().into(lift<3>(out_view), merged_heads);
      } else {
        into_heads_of(lift<3>(out_view));
      }
    };
    with_composition<Cross>(x_view.shape(), context_view.shape(), compute, options...);
    (advance(options), ...);
  }

  template <bool Cross, class X, class Context, class... O>
  Tensor<T, rank_of<X> + 1> attend_weights(const X& x, const Context& context, O&... options) const {
    check_inputs<Cross>(x, context);
    constexpr int R = rank_of<X>;
    const auto x_view = const_view(x);
    const auto context_view = const_view(context);
    Shape<R + 1> shape;
    if constexpr (R == 3) shape[0] = x_view.shape()[0];
    shape[R - 2] = self().num_heads();
    shape[R - 1] = x_view.shape()[R - 2];
    shape[R] = context_view.shape()[R - 2];
    Tensor<T, R + 1> result(shape);

    const auto compute = [&](const auto& composition) {
      check_outputs_apart<Cross>(view(result), x_view, context_view, composition);
      const Projected<T> projected = self().project(lift<3>(x_view), lift<3>(context_view));
      FusedKernel{}.weights(lift<4>(view(result)), heads_of(projected.queries), heads_of(projected.keys), composition);
    };
    with_composition<Cross>(x_view.shape(), context_view.shape(), compute, options...);
    (advance(options), ...);
    return result;
  }

  /// Refuses what does not fit, with the shapes as the caller wrote them. context is x where there is none.
  template <bool Cross, class X, class Context>
  void check_inputs(const X& x, const Context& context) const {
    constexpr int R = rank_of<X>;
    static_assert(std::same_as<ScalarOf<X>, T>, "heed: x must have the scalar type of the module");
    static_assert(R == 2 || R == 3, "heed: x must have rank 2 (one sequence) or 3 (a batch)");
    static_assert(std::same_as<ScalarOf<Context>, T> && rank_of<Context> == R,
                  "heed: context must have the rank and the scalar type of x (a mask goes into heed::mask)");
    self().check_layers(Module::name);
    const auto x_shape = const_view(x).shape();
    const auto context_shape = const_view(context).shape();
    const auto refuse = [&](const char* name, const Shape<R>& shape, const std::string& why) {
      fail_shape({Module::name, ": ", name, " is ", to_string(shape), ", but ", why});
    };
    const auto check_features = [&](const char* name, const Shape<R>& shape) {
      if (shape[R - 1] != self().d_in())
        refuse(name, shape, joined({"its last size must be d_in = ", std::to_string(self().d_in())}));
    };
    check_features("x", x_shape);
    if constexpr (requires { self().context_length(); }) {
      if (x_shape[R - 2] > self().context_length())
        refuse(
            "x", x_shape,
            joined({"a sequence has at most context_length = ", std::to_string(self().context_length()), " tokens"}));
    }
    if constexpr (Cross) {
      check_features("context", context_shape);
      if (R == 3 && context_shape[0] != x_shape[0])
        refuse("context", context_shape, joined({"its batch size must be that of x ", to_string(x_shape)}));
    }
  }

  template <class X>
  auto heads_of(X& x) const {
    return split_heads(x, self().num_heads());
  }

  /// Refuses outputs that share elements with each other, an input or a parameter.
  template <bool Cross, int OutRank, int R, class Composition>
  void check_outputs_apart(const TensorView<T, OutRank>& out, const TensorView<const T, R>& x,
                           const TensorView<const T, R>& context, const Composition& composition) const {
    if constexpr (Cross) {
      check_outputs(Module::name, out, composition, NamedInput<T, R>{"x", x}, NamedInput<T, R>{"context", context});
    } else {
      check_outputs(Module::name, out, composition, NamedInput<T, R>{"x", x});
    }
    self().each_parameter([&](const auto& parameter) {
      check_apart(Module::name, "out", out, "parameter", parameter);
      composition.each_output([&](const char* output_name, const auto& output) {
        check_apart(Module::name, output_name, output, "parameter", parameter);
      });
    });
  }

  /// Calls use(composition) with the modifiers that the options and the module itself stand for.
  template <bool Cross, int R, class Use, class... O>
  void with_composition(const Shape<R>& x, const Shape<R>& context, const Use& use, O&... options) const {
    static_assert((0 + ... + int{RandomSource<O>}) <= 1, "heed: a call takes one random source");
    static_assert(!((RandomSource<O> || ...) && (decides_dropout<O> || ...)),
                  "heed: a call takes a random source or heed::dropout, not both");
    const Index heads = self().num_heads();
    const AttentionSizes sizes{Module::name, R + 1,    R == 3 ? x[0] : 1, heads,
                               heads,        x[R - 2], context[R - 2],    self().d_out() / heads};
    const auto own = [] {
      if constexpr (Module::is_causal && !Cross) {
        return std::tuple(causal());
      } else {
        return std::tuple();
      }
    }();
    std::apply(
        [&]<class... M>(const M&... modifiers) {
          (check_output_rank<R + 1, M>(), ...);
          use(Composition<T, M...>(sizes, modifiers...));
        },
        std::tuple_cat(own, as_modifiers(options)...));
  }

  /// The modifiers that one option stands for, in a tuple.
  template <class O>
  auto as_modifiers(O& option) const {
    if constexpr (RandomSource<O>) {
      static_assert(!std::is_const_v<O>, "heed: a call advances its random source, which must not be const");
      if constexpr (requires { self().dropout(); }) {
        return std::tuple(in_draw_order(heed::dropout(self().dropout(), option)));
      } else {
        return std::tuple();
      }
    } else if constexpr (decides_dropout<O>) {
      return std::tuple(in_draw_order(option));
    } else {
      return std::tuple<const O&>(option);
    }
  }

  /// Dropout by a Generator draws in the order of the module.
  template <class M>
  static M in_draw_order(M modifier) {
    if constexpr (requires { Module::heads_first; }) modifier.heads_first = Module::heads_first;
    return modifier;
  }

  template <class O>
  static void advance(O& option) {
    if constexpr (std::same_as<O, Philox>) ++option.offset;
  }
};

}  // namespace heed::detail
