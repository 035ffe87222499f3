#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/tensor_like.hpp>

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace heed {
namespace modifiers {

struct ScaleChoice;
struct SoftCapChoice;
struct AlibiChoice;

struct Scale : Modifier {
  using decides = ScaleChoice;

  explicit Scale(double scale_factor) : factor(scale_factor) {
    if (!std::isfinite(factor))
      detail::fail_value({"heed::scale: the scale must be finite, got ", std::to_string(factor)});
  }
  double scale() const { return factor; }
  template <class T>
  void check(const char* function) const {
    if (!std::isfinite(static_cast<T>(factor)))
      detail::fail_value({function, ": the scale is too large for the scalar type of the tensors"});
  }
  Scale bind(const detail::AttentionSizes&) const { return *this; }

  double factor;
};

template <class T, int R>
struct Bias : Modifier {
  explicit Bias(const TensorView<const T, R>& view) : values(view) {}

  struct Bound {
    TensorView<const T, 4> values;
    TensorView<const T, R> given;
    T score(T score, const Pair& at) const {
      const T bias = values(at.b, at.h, at.i, at.j);
      constexpr T hidden = -std::numeric_limits<T>::infinity();
      return bias == hidden ? hidden : score + bias;  // selected: a NaN score plus -inf would be NaN
    }
    template <class F>
    void each_input(const F& f) const {
      f("bias", given);
    }
  };
  Bound bind(const detail::AttentionSizes& sizes) const {
    return {detail::broadcast_to_scores(sizes, "bias", values), values};
  }

  TensorView<const T, R> values;
};

struct SoftCap : Modifier {
  using decides = SoftCapChoice;

  explicit SoftCap(double largest_score) : cap(largest_score) {
    if (!(cap > 0) || !std::isfinite(cap))
      detail::fail_value({"heed::soft_cap: the cap must be positive and finite, got ", std::to_string(cap)});
  }
  template <class T>
  void check(const char* function) const {
    if (static_cast<T>(cap) == 0 || !std::isfinite(static_cast<T>(cap)))
      detail::fail_value({function, ": the soft cap does not fit the scalar type of the tensors"});
  }
  template <std::floating_point T>
  T score(T score, const Pair&) const {
    return static_cast<T>(cap) * std::tanh(score / static_cast<T>(cap));
  }
  SoftCap bind(const detail::AttentionSizes&) const { return *this; }

  double cap;
};

template <class T>
struct Alibi : Modifier {
  using decides = AlibiChoice;

  explicit Alibi(const TensorView<const T, 1>& values) : slopes(values) {}

  T score(T score, const Pair& at) const {
    const Index distance = at.position < at.j ? at.j - at.position : at.position - at.j;
    return score - slopes[at.h] * static_cast<T>(distance);
  }
  template <class F>
  void each_input(const F& f) const {
    f("alibi", slopes);
  }
  Alibi bind(const detail::AttentionSizes& sizes) const {
    return Alibi(detail::checked_per_head(sizes, "alibi", slopes));
  }

  TensorView<const T, 1> slopes;
};

/// No derivative was given.
struct NoDerivative {};

template <class F, class Derivative>
struct ScoreMod : Modifier {
  ScoreMod(F&& user_function, Derivative&& user_derivative)
      : function(std::forward<F>(user_function)), derivative(std::forward<Derivative>(user_derivative)) {}

  struct Bound {
    const std::remove_reference_t<F>* f;

    template <std::floating_point T>
    T score(T score, const Pair& at) const {
      static_assert(is_score_function<F, T>,
                    "heed::score_mod: f must be callable, when const, as T f(T score, Index b, Index h, Index i, Index "
                    "j), T the scalar type of the tensors");
      static_assert(std::same_as<Derivative, NoDerivative> || is_score_function<Derivative, T>,
                    "heed::score_mod: df must be callable with the arguments of f");
      return static_cast<T>((*f)(score, at.b, at.h, at.i, at.j));
    }
  };
  Bound bind(const detail::AttentionSizes&) const { return {&function.get()}; }

  template <class G, class T>
  static constexpr bool is_score_function =
      std::is_invocable_r_v<T, const std::remove_reference_t<G>&, T, Index, Index, Index, Index>;

  detail::UserFunction<F> function;
  detail::UserFunction<Derivative> derivative;
};

}  // namespace modifiers

/// Scores are q·k·factor instead of q·k/√d. Finite, else std::invalid_argument.
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::scale(1.0));
/// ```
inline modifiers::Scale scale(double factor) { return modifiers::Scale(factor); }

/// score + bias[b, h, i, j], ℝ^{t×s}, ℝ^{h×t×s} or ℝ^{b×h×t×s}, else ShapeError; axes of size 1 repeat. −inf hides the
/// pair, whatever follows. May be given several times (attn_mask of torch.nn.functional.scaled_dot_product_attention).
///
/// ```cpp
/// heed::Tensor<float, 3> per_head(4, 1, 7);  // ℝ^{h×1×s}: the same for all queries
/// per_head(2, 0, 6) = -1;
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::bias(per_head));
/// ```
template <TensorLike X>
auto bias(const X& values) {
  static_assert(std::floating_point<ScalarOf<X>>, "heed::bias: a bias holds numbers; truth values are a heed::mask");
  static_assert(rank_of<X> >= 2 && rank_of<X> <= 4, "heed::bias: a bias has rank 2, 3 or 4");
  return modifiers::Bias<ScalarOf<X>, rank_of<X>>(detail::const_view(values));
}

/// cap·tanh(score/cap): scores stay within ±cap ("Gemma 2", Gemma Team, 2024). Positive and finite, else
/// std::invalid_argument. Place it before a bias or after it: score modifiers apply in the order given.
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::soft_cap(50));
/// ```
inline modifiers::SoftCap soft_cap(double cap) { return modifiers::SoftCap(cap); }

/// score − slopes[h]·|p − j|, p being the query's position: i, with causal_lower_right() i + length − t ("Train Short,
/// Test Long: Attention with Linear Biases", Press et al., 2022). ℝ^{h}: one slope for each query head in a contiguous
/// range or a rank-1 TensorLike of the tensors' scalar type, else ShapeError.
///
/// ```cpp
/// std::vector<float> slopes{0.25f, 0.0625f, 0.015625f, 0.00390625f};  // four heads: 2^(−8/4), 2^(−16/4), …
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::causal_lower_right(), heed::alibi(slopes));
/// ```
template <detail::Sequence Range>
auto alibi(const Range& slopes) {
  const auto values = detail::sequence_view(slopes);
  using T = typename decltype(values)::value_type;
  static_assert(std::floating_point<T>, "heed::alibi: slopes are float or double");
  return modifiers::Alibi<T>(values);
}
template <std::floating_point T>
auto alibi(std::initializer_list<T> slopes) {
  return alibi(std::span<const T>(slopes.begin(), slopes.size()));
}

/// f(score, b, h, i, j) instead of the score (score_mod of torch.nn.attention.flex_attention). i counts the queries of
/// the call from 0, whatever their position; −inf hides the pair, whatever follows. f is called for pairs that exist,
/// some of which may be hidden, in any order, number and thread; it must not throw. May be given several times.
///
/// ```cpp
/// auto nearer = [](float score, auto, auto, auto i, auto j) { return score - 0.1f * float(i > j ? i - j : j - i); };
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::score_mod(nearer));
/// ```
template <class F>
auto score_mod(F&& f) {
  return modifiers::ScoreMod<F, modifiers::NoDerivative>(std::forward<F>(f), {});
}

/// The same with the derivative of f by the score, df(score, b, h, i, j), which takes f's arguments.
///
/// ```cpp
/// auto squared = [](float score, auto...) { return score * score; };
/// auto derivative = [](float score, auto...) { return 2 * score; };
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::score_mod(squared, derivative));
/// ```
template <class F, class Derivative>
auto score_mod(F&& f, Derivative&& df) {
  return modifiers::ScoreMod<F, Derivative>(std::forward<F>(f), std::forward<Derivative>(df));
}

}  // namespace heed
