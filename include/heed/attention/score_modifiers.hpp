#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/math.hpp>
#include <heed/core/tensor_like.hpp>

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace heed::modifiers::inline HEED_FLAGS {

struct Scale : Modifier {
  static constexpr Choice choice = Choice::scale;

  explicit Scale(double scale_factor) : factor(scale_factor) {
    if (!std::isfinite(factor))
      detail::fail_value({"heed::scale: the scale must be finite, got ", detail::number(factor)});
  }

  template <class T>
  struct Bound {
    T factor;
    T scale() const { return factor; }
  };
  template <class T>
  Bound<T> bind(const detail::AttentionSizes& sizes) const {
    const T bound_factor = static_cast<T>(factor);
    if (!std::isfinite(bound_factor))
      detail::fail_value({sizes.function, ": the scale is too large for the scalar type of the tensors"});
    return {bound_factor};
  }

  double factor;
};

template <class U, int R>
struct Bias : Modifier {
  static constexpr Choice choice = Choice::any;

  explicit Bias(const TensorView<const U, R>& view) : values(view) {}

  struct Bound {
    TensorView<const U, 4> values;
    TensorView<const U, R> given;
    [[gnu::always_inline]] U score(U score, const Pair& at) const {
      const U bias = values(at.b, at.h, at.i, at.j);
      constexpr U hidden = -std::numeric_limits<U>::infinity();
      return bias == hidden ? hidden : score + bias;  // selected: a NaN score plus -inf would be NaN
    }
    template <int N>
    [[gnu::always_inline]] void score_block(U* score, const Pair& first) const {
      constexpr U hidden = -std::numeric_limits<U>::infinity();
      const U* const row = &values(first.b, first.h, first.i, first.j);
      const Index step = values.strides()[3];
      if (step == 1) {
        for (int n = 0; n < N; ++n) score[n] = row[n] == hidden ? hidden : score[n] + row[n];
      } else {
        for (int n = 0; n < N; ++n) score[n] = row[n * step] == hidden ? hidden : score[n] + row[n * step];
      }
    }
    template <class F>
    void each_input(const F& f) const {
      f("bias", given);
    }
  };
  template <class T>
  Bound bind(const detail::AttentionSizes& sizes) const {
    static_assert(std::same_as<T, U>, "heed::bias: it must have the scalar type of the tensors");
    return {detail::broadcast_to_scores(sizes, "bias", values), values};
  }

  TensorView<const U, R> values;
};

struct SoftCap : Modifier {
  static constexpr Choice choice = Choice::soft_cap;

  explicit SoftCap(double largest_score) : cap(largest_score) {
    if (!(cap > 0) || !std::isfinite(cap))
      detail::fail_value({"heed::soft_cap: the cap must be positive and finite, got ", detail::number(cap)});
  }

  template <class T>
  struct Bound {
    T cap, inverse;  // a division would take half as long as the tanh
    [[gnu::always_inline]] T score(T score, const Pair&) const { return cap * heed::tanh(score * inverse); }
  };
  template <class T>
  Bound<T> bind(const detail::AttentionSizes& sizes) const {
    const T bound_cap = static_cast<T>(cap);
    if (!std::isfinite(bound_cap) || !std::isfinite(1 / bound_cap))
      detail::fail_value({sizes.function, ": the soft cap does not fit the scalar type of the tensors"});
    return {bound_cap, 1 / bound_cap};
  }

  double cap;
};

template <class U>
struct Alibi : Modifier {
  static constexpr Choice choice = Choice::alibi;

  explicit Alibi(const TensorView<const U, 1>& values) : slopes(values) {}

  [[gnu::always_inline]] U score(U score, const Pair& at) const {
    const Index distance = at.position < at.j ? at.j - at.position : at.position - at.j;
    return score - slopes[at.h] * static_cast<U>(distance);
  }
  template <int N>
  [[gnu::always_inline]] void score_block(U* score, const Pair& first) const {
    const U slope = slopes[first.h];
    const Index gap = first.position - first.j;
    for (int n = 0; n < N; ++n) {
      const U signed_distance = static_cast<U>(gap - n);
      score[n] -= slope * (signed_distance < 0 ? -signed_distance : signed_distance);
    }
  }
  template <class F>
  void each_input(const F& f) const {
    f("alibi", slopes);
  }
  template <class T>
  Alibi bind(const detail::AttentionSizes& sizes) const {
    static_assert(std::same_as<T, U>, "heed::alibi: slopes must have the scalar type of the tensors");
    return Alibi(detail::checked_per_head(sizes, "alibi", slopes));
  }

  TensorView<const U, 1> slopes;
};

/// No derivative was given.
struct NoDerivative {};

/// F and Derivative are references unless the functions were temporaries.
template <class F, class Derivative>
struct ScoreMod : Modifier {
  static constexpr Choice choice = Choice::any;

  ScoreMod(F&& user_function, Derivative&& user_derivative)
      : function(std::forward<F>(user_function)), derivative(std::forward<Derivative>(user_derivative)) {}

  template <class T>
  struct Bound {
    const std::remove_reference_t<F>* f;
    [[gnu::always_inline]] T score(T score, const Pair& at) const { return detail::call_for_pair<T>(*f, at, score); }
  };
  template <class T>
  Bound<T> bind(const detail::AttentionSizes&) const {
    static_assert(detail::maps_pairs<F, T>,
                  "heed::score_mod: f must be callable, when const, as T f(T score, Index b, Index h, Index i, Index "
                  "j), T the scalar type of the tensors");
    static_assert(std::same_as<Derivative, NoDerivative> || detail::maps_pairs<Derivative, T>,
                  "heed::score_mod: df must be callable with the arguments of f");
    return {std::addressof(function)};
  }

  F function;
  Derivative derivative;
};

}  // namespace heed::modifiers

// In the examples q is ℝ^{2×4×5×8} (b, h, t, d), k ℝ^{2×2×7×8} (b, g, s, d) and v ℝ^{2×2×7×3} (b, g, s, e).
namespace heed::inline HEED_FLAGS {

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
/// range or a rank-1 TensorLike of the tensors' scalar type, else ShapeError. A list or a temporary must be written in
/// the call itself.
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
/// some of which may be hidden and have any score, in any order, number and thread; what it throws comes out of the
/// call. Use heed::exp and heed::tanh in it: they become vector instructions, the standard ones do not. May be given
/// several times.
///
/// ```cpp
/// auto nearer = [](float score, auto, auto, auto i, auto j) { return score - 0.1f * float(i > j ? i - j : j - i); };
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::score_mod(nearer));
/// ```
template <class F>
auto score_mod(F&& f) {
  return modifiers::ScoreMod<F, modifiers::NoDerivative>(std::forward<F>(f), {});
}

/// The same with the derivative of f by the score, df(score, b, h, i, j), which takes f's arguments. The forward pass
/// does not call it.
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
