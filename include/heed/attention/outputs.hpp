#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/core/transform.hpp>

#include <concepts>
#include <limits>
#include <utility>

namespace heed::modifiers::inline HEED_FLAGS {

/// What more a call writes: Kind is logsumexp, scores, final_scores or weights.
template <Choice Kind, class U, int R>
struct Output : Modifier {
  static constexpr Choice choice = Kind;
  /// How many axes fewer than the queries it has: the log-sum-exp has none for the keys.
  static constexpr int axes_less = Kind == Choice::logsumexp ? 1 : 0;
  static constexpr int rank = R;
  static constexpr const char* name = Kind == Choice::logsumexp      ? "logsumexp"
                                      : Kind == Choice::scores       ? "scores"
                                      : Kind == Choice::final_scores ? "final_scores"
                                                                     : "weights";

  explicit Output(const TensorView<U, R>& view) : target(view) {}

  struct Bound {
    TensorView<U, 4 - axes_less> all;  // with all axes
    TensorView<U, R> given;

    /// Rows all get a log-sum-exp; of pairs only those that exist or are visible are heard of.
    void prepare() const {
      if constexpr (Kind != Choice::logsumexp) {
        const U nothing = Kind == Choice::weights ? U(0) : -std::numeric_limits<U>::infinity();
        detail::for_each_element([&](U& element) { element = nothing; }, given);
      }
    }
    void write_logsumexp(Index b, Index h, Index i, U value) const requires(Kind == Choice::logsumexp) {
      all(b, h, i) = value;
    }
    void write_score(U score, const Pair& at) const requires(Kind == Choice::scores) { write(score, at); }
    void write_final_score(U score, const Pair& at) const requires(Kind == Choice::final_scores) { write(score, at); }
    void write_final_weight(U weight, const Pair& at) const requires(Kind == Choice::weights) { write(weight, at); }

    template <class F>
    void each_output(const F& f) const {
      f(name, given);
    }

   private:
    void write(U value, const Pair& at) const { all(at.b, at.h, at.i, at.j) = value; }
  };

  template <class T>
  Bound bind(const detail::AttentionSizes& sizes) const {
    static_assert(std::same_as<T, U>,
                  "heed: logsumexp, scores, final_scores and weights have the scalar type of the tensors");
    Shape<4 - axes_less> expected;
    for (int axis = 0; axis < 4 - axes_less; ++axis) expected[axis] = detail::score_shape(sizes)[axis];
    const auto all = detail::lift<4 - axes_less>(target);
    if (all.shape() != expected)
      detail::fail_shape({sizes.function, ": ", name, " is ", to_string(target.shape()), ", but it must be ",
                          detail::callers_shape(sizes, expected)});
    return {all, target};
  }

  TensorView<U, R> target;
};

}  // namespace heed::modifiers

// In the examples q is ℝ^{2×4×5×8} (b, h, t, d), k ℝ^{2×2×7×8} (b, g, s, d) and v ℝ^{2×2×7×3} (b, g, s, e).
namespace heed::inline HEED_FLAGS {

/// Also writes log Σ exp(score) of each row's final scores, natural, before dropout, a sink counted: ℝ^{b×h×t} with the
/// queries' rank less one (an Eigen vector is ℝ^{t}; in a module: the rank of x), else ShapeError. −inf for a row that
/// sees no key and has no sink.
///
/// ```cpp
/// heed::Tensor<float, 3> lse(2, 4, 5);  // ℝ^{b×h×t}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::logsumexp(lse));
/// ```
template <TensorLike X>
auto logsumexp(X&& target) {
  const auto v = detail::output_view(std::forward<X>(target));
  if constexpr (EigenVector<X>) {
    return modifiers::Output<modifiers::Choice::logsumexp, ScalarOf<X>, 1>(detail::eigen_vector_view(target));
  } else {
    return modifiers::Output<modifiers::Choice::logsumexp, ScalarOf<X>, rank_of<X>>(v);
  }
}

/// Also writes the scores at this place among the score modifiers, for looking at: first, the scaled products; after
/// soft_cap, the capped ones. Hidden pairs have scores too, but none past the key length, where −inf is written.
/// ℝ^{b×h×t×s} with the queries' rank (in a module: that of x plus one), else ShapeError. Nothing hidden is skipped
/// then.
///
/// ```cpp
/// heed::Tensor<float, 4> capped(2, 4, 5, 7);  // ℝ^{b×h×t×s}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::soft_cap(2), heed::scores(capped), heed::causal());
/// ```
template <TensorLike X>
auto scores(X&& target) {
  return modifiers::Output<modifiers::Choice::scores, ScalarOf<X>, rank_of<X>>(
      detail::output_view(std::forward<X>(target)));
}

/// Also writes the scores that the softmax sees, −inf where a pair is hidden, for looking at. ℝ^{b×h×t×s} with the
/// queries' rank (in a module: that of x plus one), else ShapeError.
///
/// ```cpp
/// heed::Tensor<float, 4> seen(2, 4, 5, 7);  // ℝ^{b×h×t×s}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::causal(), heed::final_scores(seen));
/// ```
template <TensorLike X>
auto final_scores(X&& target) {
  return modifiers::Output<modifiers::Choice::final_scores, ScalarOf<X>, rank_of<X>>(
      detail::output_view(std::forward<X>(target)));
}

/// Also writes the weights that the values get, after sinks, prob_mod and dropout, for looking at: what
/// attention_weights returns. ℝ^{b×h×t×s} with the queries' rank (in a module: that of x plus one), else ShapeError.
///
/// ```cpp
/// heed::Tensor<float, 4> weights(2, 4, 5, 7);  // ℝ^{b×h×t×s}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::weights(weights));
/// ```
template <TensorLike X>
auto weights(X&& target) {
  return modifiers::Output<modifiers::Choice::weights, ScalarOf<X>, rank_of<X>>(
      detail::output_view(std::forward<X>(target)));
}

}  // namespace heed
