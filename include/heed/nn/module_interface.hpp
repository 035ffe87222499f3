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

/// Queries, keys and values of all heads side by side, ℝ^{b×t×(h·d)} each.
template <class T>
struct Projected {
  Tensor<T, 3> queries, keys, values;
};

/// Whether a modifier, if it is the log-sum-exp, can receive that of an x of rank R: ℝ^{b×h×t}, for one sequence
/// ℝ^{h×t}.
template <class M, class T, int R>
inline constexpr bool fits_logsumexp = true;
template <class U, int LseRank, class T, int R>
inline constexpr bool fits_logsumexp<modifiers::LogSumExp<U, LseRank>, T, R> = std::same_as<U, T>&& LseRank == R;

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
/// | `static is_causal`            | whether it hides later tokens                                            |
/// | `d_in()`, `d_out()`           | features of an input and of an output token                              |
/// | `num_heads()`                 |                                                                          |
/// | `context_length()`            | where there is one: the longest sequence                                 |
/// | `dropout()`                   | where there is one: its probability                                      |
/// | `static heads_first`          | with it: whether a Generator draws for one head after another            |
/// | `out_proj()`                  | where there is one: the layer behind attention                           |
/// | `check_layers(function)`      | refuses layers whose sizes are no longer the module's                    |
/// | `each_parameter(f)`           | f(view) for each, to keep outputs apart from them                        |
/// | `project(x)`                  | x ℝ^{b×t×d_in}, checked already → Projected                              |
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
    check_types<X>();
    auto shape = const_view(x).shape();
    check_input(shape);
    shape[rank_of<X> - 1] = self().d_out();
    Tensor<T, rank_of<X>> out(shape);
    into(out, x, options...);
    return out;
  }

  /// The same into a tensor, view or Eigen object of the result's shape that shares no element with x.
  template <TensorLike Out, TensorLike X, ModuleOption... O>
  void into(Out&& out, const X& x, O&&... options) const {
    check_types<X>();
    static_assert(std::same_as<ScalarOf<Out>, T> && rank_of<Out> == rank_of<X>,
                  "heed: out must have the rank and the scalar type of x");
    constexpr int R = rank_of<X>;
    const auto output = output_view(std::forward<Out>(out));
    const auto input = const_view(x);
    check_input(input.shape());
    auto expected = input.shape();
    expected[R - 1] = self().d_out();
    check_output_shape(Module::name, output.shape(), expected);
    with_modifiers([&](const auto&... modifiers) { check_call(output, input, modifiers...); }, options...);

    const Projected<T> projected = self().project(lift<3>(input));
    const auto attend = [&](const TensorView<T, 3>& context) {
      with_modifiers(
          [&](const auto&... modifiers) {
            checked_attention(Module::name, PlainKernel{}, heads_of(context), heads_of(projected.queries),
                              heads_of(projected.keys), heads_of(projected.values), with_batch<R>(modifiers)...);
          },
          options...);
    };
    if constexpr (requires { self().out_proj(); }) {
      Tensor<T, 3> context(projected.values.shape());
      attend(context);
      self().out_proj().into(lift<3>(output), context);
    } else {
      attend(lift<3>(output));
    }
    (advance(options), ...);
  }

  /// The attention weights of a call, for looking at: ℝ^{b×h×t×t}, for an x of rank 2 ℝ^{h×t×t}; h is 1 where there are
  /// no heads.
  template <TensorLike X, ModuleOption... O>
  Tensor<T, rank_of<X> + 1> weights(const X& x, O&&... options) const {
    check_types<X>();
    constexpr int R = rank_of<X>;
    const auto input = const_view(x);
    check_input(input.shape());
    Shape<R + 1> shape;
    if constexpr (R == 3) shape[0] = input.shape()[0];
    shape[R - 2] = self().num_heads();
    shape[R - 1] = shape[R] = input.shape()[R - 2];
    Tensor<T, R + 1> result(shape);
    with_modifiers([&](const auto&... modifiers) { check_call(view(result), input, modifiers...); }, options...);

    const Projected<T> projected = self().project(lift<3>(input));
    with_modifiers(
        [&](const auto&... modifiers) {
          checked_weights(Module::name, PlainKernel{}, lift<4>(view(result)), heads_of(projected.queries),
                          heads_of(projected.keys), with_batch<R>(modifiers)...);
        },
        options...);
    (advance(options), ...);
    return result;
  }

 private:
  const Module& self() const { return static_cast<const Module&>(*this); }

  template <class X>
  static constexpr void check_types() {
    static_assert(std::same_as<ScalarOf<X>, T>, "heed: x must have the scalar type of the module");
    static_assert(rank_of<X> == 2 || rank_of<X> == 3, "heed: x must have rank 2 (one sequence) or 3 (a batch)");
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
  void check_call(const TensorView<T, OutRank>& out, const TensorView<const T, R>& x, const M&... modifiers) const {
    static_assert((fits_logsumexp<M, T, R> && ...),
                  "heed::logsumexp: in the call of a module it must have the rank and the scalar type of x");
    const Index batches = R == 3 ? x.shape()[0] : 1;
    const Index heads = self().num_heads();
    const Index tokens = x.shape()[R - 2];
    const AttentionSizes sizes{Module::name, R + 1, batches, heads, heads, tokens, tokens, self().d_out() / heads};
    const Composition<T, M...> composition(sizes, modifiers...);
    check_outputs(Module::name, out, composition, NamedInput<T, R>{"x", x});
    self().each_parameter([&](const auto& parameter) {
      check_apart(Module::name, "out", out, "parameter", parameter);
      composition.each_output([&](const char* output_name, const auto& output) {
        check_apart(Module::name, output_name, output, "parameter", parameter);
      });
    });
  }

  /// Calls use with the modifiers that the options and the module itself stand for.
  template <class Use, class... O>
  void with_modifiers(const Use& use, O&... options) const {
    static_assert((0 + ... + int{RandomSource<O>}) <= 1, "heed: a call takes one random source");
    static_assert(!((RandomSource<O> || ...) && (decides_dropout<O> || ...)),
                  "heed: a call takes a random source or heed::dropout, not both");
    const auto own = [] {
      if constexpr (Module::is_causal) {
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
    } else {
      return std::tuple(in_draw_order(option));
    }
  }

  /// Dropout by a Generator draws in the order of the module.
  template <class M>
  static M in_draw_order(M modifier) {
    if constexpr (requires {
                    Module::heads_first;
                    modifier.heads_first;
                  })
      modifier.heads_first = Module::heads_first;
    return modifier;
  }

  /// Attention always gets a batch, and so does its log-sum-exp.
  template <int R, class M>
  static const M& with_batch(const M& modifier) {
    return modifier;
  }
  template <int R>
  static modifiers::LogSumExp<T, 3> with_batch(const modifiers::LogSumExp<T, R>& modifier) {
    return modifiers::LogSumExp<T, 3>(lift<3>(modifier.target));
  }

  template <class O>
  static void advance(O& option) {
    if constexpr (std::same_as<O, Philox>) ++option.offset;
  }
};

}  // namespace detail
}  // namespace heed
