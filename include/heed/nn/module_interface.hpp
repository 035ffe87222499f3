#pragma once

#include <heed/attention/front_door.hpp>
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

namespace heed {

/// What turns a module's dropout on for one call: a Generator draws as PyTorch does, a Philox by coordinates. The call
/// advances it.
template <class O>
concept RandomSource = std::same_as<std::remove_cvref_t<O>, Generator> || std::same_as<std::remove_cvref_t<O>, Philox>;

/// What may follow the input in a call of a module, in any order.
template <class O>
concept ModuleOption = AttentionModifier<O> || RandomSource<O>;

namespace detail {

/// Queries of all heads side by side, ℝ^{b×t×(h·d)}, keys and values ℝ^{b×s×(h·d)}.
template <class T>
struct Projected {
  Tensor<T, 3> queries, keys, values;
};

/// Whether an option is heed::dropout.
template <class O>
inline constexpr bool decides_dropout = false;
template <class Source>
inline constexpr bool decides_dropout<modifiers::Dropout<Source>> = true;
template <class O>
  requires std::is_const_v<O>
inline constexpr bool decides_dropout<O> = decides_dropout<std::remove_const_t<O>>;

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

  /// x ℝ^{t×d_in} or ℝ^{b×t×d_in} → ℝ^{t×d_out} or ℝ^{b×t×d_out}. Options are any modifiers of
  /// scaled_dot_product_attention and a random source, which turns dropout on. Throws ShapeError if x does not fit; an
  /// error advances no random source.
  template <TensorLike X, ModuleOption... O>
  Tensor<T, rank_of<X>> operator()(const X& x, O&&... options) const {
    return result(x, SelfContext{}, options...);
  }

  /// Cross-attention: queries from x ℝ^{t×d_in}, keys and values from context ℝ^{s×d_in}, or both with a batch. The
  /// tokens of x see all of the context: its order has nothing to do with theirs, so a causal module hides none of it.
  /// (`heed::causal()` as an option does.)
  template <TensorLike X, TensorLike Context, ModuleOption... O>
  Tensor<T, rank_of<X>> operator()(const X& x, const Context& context, O&&... options) const {
    return result(x, context, options...);
  }

  /// The same into a tensor, view or Eigen object of the result's shape that shares no element with an input.
  template <TensorLike Out, TensorLike X, ModuleOption... O>
  void into(Out&& out, const X& x, O&&... options) const {
    attend_into(std::forward<Out>(out), x, SelfContext{}, options...);
  }
  template <TensorLike Out, TensorLike X, TensorLike Context, ModuleOption... O>
  void into(Out&& out, const X& x, const Context& context, O&&... options) const {
    attend_into(std::forward<Out>(out), x, context, options...);
  }

  /// The attention weights of a call, for looking at: ℝ^{b×h×t×t}, for an x of rank 2 ℝ^{h×t×t}; h is 1 where there are
  /// no heads. Of cross-attention ℝ^{b×h×t×s} or ℝ^{h×t×s}.
  template <TensorLike X, ModuleOption... O>
  Tensor<T, rank_of<X> + 1> weights(const X& x, O&&... options) const {
    return attend_weights(x, SelfContext{}, options...);
  }
  template <TensorLike X, TensorLike Context, ModuleOption... O>
  Tensor<T, rank_of<X> + 1> weights(const X& x, const Context& context, O&&... options) const {
    return attend_weights(x, context, options...);
  }

 private:
  const Module& self() const { return static_cast<const Module&>(*this); }

  /// Stands for the context of self-attention: x itself.
  struct SelfContext {};

  template <class Context>
  static constexpr bool is_cross = !std::same_as<Context, SelfContext>;

  template <class X, class Context, class... O>
  Tensor<T, rank_of<X>> result(const X& x, const Context& context, O&... options) const {
    check_types<X, Context>();
    const auto input = const_view(x);
    checked_context(input, context);  // before anything is allocated
    auto shape = input.shape();
    shape[rank_of<X> - 1] = self().d_out();
    Tensor<T, rank_of<X>> out(shape);
    attend_into(out, x, context, options...);
    return out;
  }

  template <class Out, class X, class Context, class... O>
  void attend_into(Out&& out, const X& x, const Context& context, O&... options) const {
    check_types<X, Context>();
    static_assert(std::same_as<ScalarOf<Out>, T> && rank_of<Out> == rank_of<X>,
                  "heed: out must have the rank and the scalar type of x");
    constexpr bool cross = is_cross<Context>;
    const auto output = output_view(std::forward<Out>(out));
    const auto input = const_view(x);
    const auto memory = checked_context(input, context);
    auto expected = input.shape();
    expected[rank_of<X> - 1] = self().d_out();
    check_output_shape(Module::name, output.shape(), expected);
    with_modifiers<cross>([&](const auto&... modifiers) { check_call(output, input, memory, modifiers...); },
                          options...);

    const Projected<T> projected = self().project(lift<3>(input), lift<3>(memory));
    const auto attend = [&](const TensorView<T, 3>& merged_heads) {
      with_modifiers<cross>(
          [&](const auto&... modifiers) {
            checked_attention(Module::name, PlainKernel{}, heads_of(merged_heads), heads_of(projected.queries),
                              heads_of(projected.keys), heads_of(projected.values), with_batch(modifiers)...);
          },
          options...);
    };
    if constexpr (requires { self().out_proj(); }) {
      Tensor<T, 3> merged_heads(projected.queries.shape());
      attend(merged_heads);
      self().out_proj().into(lift<3>(output), merged_heads);
    } else {
      attend(lift<3>(output));
    }
    (advance(options), ...);
  }

  template <class X, class Context, class... O>
  Tensor<T, rank_of<X> + 1> attend_weights(const X& x, const Context& context, O&... options) const {
    check_types<X, Context>();
    constexpr int R = rank_of<X>;
    constexpr bool cross = is_cross<Context>;
    const auto input = const_view(x);
    const auto memory = checked_context(input, context);
    Shape<R + 1> shape;
    if constexpr (R == 3) shape[0] = input.shape()[0];
    shape[R - 2] = self().num_heads();
    shape[R - 1] = input.shape()[R - 2];
    shape[R] = memory.shape()[R - 2];
    Tensor<T, R + 1> result(shape);
    with_modifiers<cross>([&](const auto&... modifiers) { check_call(view(result), input, memory, modifiers...); },
                          options...);

    const Projected<T> projected = self().project(lift<3>(input), lift<3>(memory));
    with_modifiers<cross>(
        [&](const auto&... modifiers) {
          checked_weights(Module::name, PlainKernel{}, lift<4>(view(result)), heads_of(projected.queries),
                          heads_of(projected.keys), with_batch(modifiers)...);
        },
        options...);
    (advance(options), ...);
    return result;
  }

  template <class X, class Context>
  static constexpr void check_types() {
    static_assert(std::same_as<ScalarOf<X>, T>, "heed: x must have the scalar type of the module");
    static_assert(rank_of<X> == 2 || rank_of<X> == 3, "heed: x must have rank 2 (one sequence) or 3 (a batch)");
    if constexpr (is_cross<Context>)
      static_assert(std::same_as<ScalarOf<Context>, T> && rank_of<Context> == rank_of<X>,
                    "heed: context must have the rank and the scalar type of x");
  }

  /// Checks x too.
  template <int R, class Context>
  TensorView<const T, R> checked_context(const TensorView<const T, R>& x, const Context& context) const {
    check_input(x.shape());
    if constexpr (is_cross<Context>) {
      const auto memory = const_view(context);
      const auto refuse = [&](const std::string& why) {
        fail_shape({Module::name, ": context is ", to_string(memory.shape()), ", but ", why});
      };
      if (memory.shape()[R - 1] != self().d_in())
        refuse(joined({"its last size must be d_in = ", std::to_string(self().d_in())}));
      if (R == 3 && memory.shape()[0] != x.shape()[0])
        refuse(joined({"its batch size must be that of x ", to_string(x.shape())}));
      return memory;
    } else {
      return x;
    }
  }

  template <int R>
  void check_input(const Shape<R>& x) const {
    self().check_layers(Module::name);
    const auto refuse = [&](const std::string& why) {
      fail_shape({Module::name, ": x is ", to_string(x), ", but ", why});
    };
    if (x[R - 1] != self().d_in()) refuse(joined({"its last size must be d_in = ", std::to_string(self().d_in())}));
    if constexpr (requires { self().context_length(); }) {
      if (x[R - 2] > self().context_length())
        refuse(
            joined({"a sequence has at most context_length = ", std::to_string(self().context_length()), " tokens"}));
    }
  }

  template <class X>
  auto heads_of(X& x) const {
    return split_heads(x, self().num_heads());
  }

  /// Refuses what does not fit, with the shapes as the caller wrote them, before anything is computed: attention itself
  /// sees neither x nor, behind out_proj, out.
  template <int OutRank, int R, class... M>
  void check_call(const TensorView<T, OutRank>& out, const TensorView<const T, R>& x,
                  const TensorView<const T, R>& context, const M&... modifiers) const {
    (check_output_type<T, R + 1, M>(), ...);
    const Index batches = R == 3 ? x.shape()[0] : 1;
    const Index heads = self().num_heads();
    const AttentionSizes sizes{
        Module::name, R + 1, batches, heads, heads, x.shape()[R - 2], context.shape()[R - 2], self().d_out() / heads};
    const Composition<T, M...> composition(sizes, modifiers...);
    check_outputs(Module::name, out, composition, NamedInput<T, R>{"x", x}, NamedInput<T, R>{"context", context});
    self().each_parameter([&](const auto& parameter) {
      check_apart(Module::name, "out", out, "parameter", parameter);
      composition.each_output([&](const char* output_name, const auto& output) {
        check_apart(Module::name, output_name, output, "parameter", parameter);
      });
    });
  }

  /// Calls use with the modifiers that the options and the module itself stand for.
  template <bool Cross, class Use, class... O>
  void with_modifiers(const Use& use, O&... options) const {
    static_assert((0 + ... + int{RandomSource<O>}) <= 1, "heed: a call takes one random source");
    static_assert(!((RandomSource<O> || ...) && (decides_dropout<O> || ...)),
                  "heed: a call takes a random source or heed::dropout, not both");
    const auto own = [] {
      if constexpr (Module::is_causal && !Cross) {
        return std::tuple(causal());
      } else {
        return std::tuple();
      }
    }();
    std::apply(use, std::tuple_cat(std::move(own), as_modifiers(options)...));
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

  /// Attention always gets a batch, and so do the outputs it writes.
  template <class M>
  static decltype(auto) with_batch(const M& modifier) {
    if constexpr (requires { modifier.with_all_axes(); }) {
      return modifier.with_all_axes();
    } else {
      return (modifier);
    }
  }

  template <class O>
  static void advance(O& option) {
    if constexpr (std::same_as<O, Philox>) ++option.offset;
  }
};

}  // namespace detail
}  // namespace heed
