#pragma once

#include <heed/attention/composition.hpp>
#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/overlap.hpp>
#include <heed/core/tensor_like.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

namespace heed::detail::inline HEED_FLAGS {

// The checks in front of every implementation of attention. Behind them views have rank 4, all sizes fit, and no output
// shares an element with an input. A kernel has
//   attention(out, q, k, v, composition)   out ℝ^{b×h×t×e}, q ℝ^{b×h×t×d}, k ℝ^{b×g×s×d}, v ℝ^{b×g×s×e}
//   weights(weights, q, k, composition)    weights ℝ^{b×h×t×s}

template <class T, int R>
struct NamedInput {
  const char* name;
  TensorView<const T, R> view;
};

/// Refuses outputs that share elements with an input or with each other.
template <class T, int R, class Composition, class... Inputs>
void check_outputs(const char* function, const TensorView<T, R>& out, const Composition& composition,
                   const Inputs&... named_inputs) {
  const auto check = [&](const char* name, const auto& output) {
    check_output(function, name, output);
    const auto against = [&](const char* input_name, const auto& input) {
      check_apart(function, name, output, input_name, input);
    };
    (against(named_inputs.name, named_inputs.view), ...);
    composition.each_input(against);
  };
  check("out", out);
  int index = 0;
  composition.each_output([&](const char* name, const auto& output) {
    check(name, output);
    const auto against = [&](const char* other_name, const auto& other) {
      if (shares_elements(output, other))
        fail_value({function, ": the outputs ", name, " ", to_string(output.shape()), " and ", other_name, " ",
                    to_string(other.shape()), " share elements"});
    };
    against("out", out);
    int other_index = 0;
    composition.each_output([&](const char* other_name, const auto& other) {
      if (other_index++ < index) against(other_name, other);
    });
    ++index;
  });
}

/// Ranks and scalar types that do not fit do not compile.
template <class First, class... Rest>
constexpr void check_types() {
  static_assert(std::floating_point<ScalarOf<First>>, "heed: attention computes in float or double");
  static_assert((std::same_as<ScalarOf<First>, ScalarOf<Rest>> && ...),
                "heed: q, k, v and out must have the same scalar type");
  static_assert(((rank_of<First> == rank_of<Rest>)&&...), "heed: q, k, v and out must have the same rank");
  static_assert(rank_of<First> >= 2 && rank_of<First> <= 4, "heed: attention takes tensors of rank 2, 3 or 4");
}

/// R is the queries' rank.
template <int R, class M>
constexpr void check_output_rank() {
  if constexpr (requires { M::axes_less; })
    static_assert(
        M::rank == R - M::axes_less,
        "heed: logsumexp has the queries' rank less one (in a module: the rank of x); scores, final_scores and "
        "weights have the queries' rank (in a module: that of x plus one)");
}

template <class Kernel, class Out, class Q, class K, class V, class... M>
void checked_attention(const char* function, const Kernel& kernel, Out&& out, const Q& q, const K& k, const V& v,
                       const M&... modifiers) {
  check_types<Q, K, V, Out>();
  using T = ScalarOf<Q>;
  constexpr int R = rank_of<Q>;
  (check_output_rank<R, M>(), ...);
  const auto output = output_view(std::forward<Out>(out));
  const auto query = const_view(q);
  const auto key = const_view(k);
  const auto value = const_view(v);
  const AttentionSizes sizes = checked_sizes(function, query.shape(), key.shape());
  check_values(function, key.shape(), value.shape());
  Shape<R> expected = query.shape();
  expected[R - 1] = value.shape()[R - 1];
  check_output_shape(function, output.shape(), expected);
  const Composition<T, M...> composition(sizes, modifiers...);
  check_outputs(function, output, composition, NamedInput<T, R>{"q", query}, NamedInput<T, R>{"k", key},
                NamedInput<T, R>{"v", value});
  kernel.attention(lift<4>(output), lift<4>(query), lift<4>(key), lift<4>(value), composition);
}

template <class Kernel, class Q, class K, class V, class... M>
Tensor<ScalarOf<Q>, rank_of<Q>> attention_result(const char* function, const Kernel& kernel, const Q& q, const K& k,
                                                 const V& v, const M&... modifiers) {
  check_types<Q, K, V>();
  constexpr int R = rank_of<Q>;
  Shape<R> shape = const_view(q).shape();
  checked_sizes(function, shape, const_view(k).shape());
  check_values(function, const_view(k).shape(), const_view(v).shape());
  shape[R - 1] = const_view(v).shape()[R - 1];
  Tensor<ScalarOf<Q>, R> out(shape);
  checked_attention(function, kernel, out, q, k, v, modifiers...);
  return out;
}

template <class Kernel, class Out, class Q, class K, class... M>
void checked_weights(const char* function, const Kernel& kernel, Out&& out, const Q& q, const K& k,
                     const M&... modifiers) {
  check_types<Q, K, Out>();
  using T = ScalarOf<Q>;
  constexpr int R = rank_of<Q>;
  (check_output_rank<R, M>(), ...);
  const auto output = output_view(std::forward<Out>(out));
  const auto query = const_view(q);
  const auto key = const_view(k);
  const AttentionSizes sizes = checked_sizes(function, query.shape(), key.shape());
  const Composition<T, M...> composition(sizes, modifiers...);
  check_outputs(function, output, composition, NamedInput<T, R>{"q", query}, NamedInput<T, R>{"k", key});
  kernel.weights(lift<4>(output), lift<4>(query), lift<4>(key), composition);
}

template <class Kernel, class Q, class K, class... M>
Tensor<ScalarOf<Q>, rank_of<Q>> weights_result(const char* function, const Kernel& kernel, const Q& q, const K& k,
                                               const M&... modifiers) {
  check_types<Q, K>();
  constexpr int R = rank_of<Q>;
  Shape<R> shape = const_view(q).shape();
  checked_sizes(function, shape, const_view(k).shape());
  shape[R - 1] = const_view(k).shape()[R - 2];
  Tensor<ScalarOf<Q>, R> weights(shape);
  checked_weights(function, kernel, weights, q, k, modifiers...);
  return weights;
}

}  // namespace heed::detail
