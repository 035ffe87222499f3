#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/tensor_like.hpp>

#include <limits>
#include <utility>

namespace heed {
namespace modifiers {

struct LogSumExpTarget;
struct ScoresTarget;
struct FinalScoresTarget;
struct WeightsTarget;

/// What more a call writes. `axes_less` is by how many its rank is below that of the queries.
template <class T, int R, int AxesLess>
struct Output : Modifier {
  using value_type = T;
  static constexpr int rank = R;
  static constexpr int axes_less = AxesLess;

  explicit Output(const TensorView<T, R>& view) : target(view) {}

  TensorView<T, R> target;
};

/// The bound form of an output: what it writes to, with all axes, and as the caller gave it.
template <class T, int R, int AxesLess>
struct BoundOutput {
  const char* name;
  TensorView<T, 4 - AxesLess> all;
  TensorView<T, R> given;

  BoundOutput(const detail::AttentionSizes& sizes, const char* output_name, const TensorView<T, R>& target)
      : name(output_name), all(detail::lift<4 - AxesLess>(target)), given(target) {
    Shape<4 - AxesLess> expected;
    const Shape<4> scores = detail::score_shape(sizes);
    for (int axis = 0; axis < 4 - AxesLess; ++axis) expected[axis] = scores[axis];
    if (all.shape() != expected)
      detail::fail_shape({sizes.function, ": ", name, " is ", to_string(given.shape()), ", but it must be ",
                          detail::callers_shape(sizes, expected)});
  }
  void write(const Pair& at, T value) const { all(at.b, at.h, at.i, at.j) = value; }
  template <class F>
  void each_output(const F& f) const {
    f(name, given);
  }
};

template <class T, int R>
struct LogSumExp : Output<T, R, 1> {
  using decides = LogSumExpTarget;
  using Output<T, R, 1>::Output;

  struct Bound : BoundOutput<T, R, 1> {
    void row(Index b, Index h, Index i, T value) const { this->all(b, h, i) = value; }
  };
  Bound bind(const detail::AttentionSizes& sizes) const { return {{sizes, "logsumexp", this->target}}; }
  LogSumExp<T, 3> with_all_axes() const { return LogSumExp<T, 3>(detail::lift<3>(this->target)); }
};

template <class T, int R>
struct Scores : Output<T, R, 0> {
  using decides = ScoresTarget;
  using Output<T, R, 0>::Output;

  struct Bound : BoundOutput<T, R, 0> {
    T score(T score, const Pair& at) const {
      this->write(at, score);
      return score;
    }
    void absent(const Pair& at) const { this->write(at, -std::numeric_limits<T>::infinity()); }
  };
  Bound bind(const detail::AttentionSizes& sizes) const { return {{sizes, "scores", this->target}}; }
  Scores<T, 4> with_all_axes() const { return Scores<T, 4>(detail::lift<4>(this->target)); }
};

template <class T, int R>
struct FinalScores : Output<T, R, 0> {
  using decides = FinalScoresTarget;
  using Output<T, R, 0>::Output;

  struct Bound : BoundOutput<T, R, 0> {
    void final_score(T score, const Pair& at) const { this->write(at, score); }
  };
  Bound bind(const detail::AttentionSizes& sizes) const { return {{sizes, "final_scores", this->target}}; }
  FinalScores<T, 4> with_all_axes() const { return FinalScores<T, 4>(detail::lift<4>(this->target)); }
};

template <class T, int R>
struct Weights : Output<T, R, 0> {
  using decides = WeightsTarget;
  using Output<T, R, 0>::Output;

  struct Bound : BoundOutput<T, R, 0> {
    void final_weight(T weight, const Pair& at) const { this->write(at, weight); }
  };
  Bound bind(const detail::AttentionSizes& sizes) const { return {{sizes, "weights", this->target}}; }
  Weights<T, 4> with_all_axes() const { return Weights<T, 4>(detail::lift<4>(this->target)); }
};

}  // namespace modifiers

/// Also writes log Σ exp(score) of each row's final scores, natural, before dropout, a sink counted: ℝ^{b×h×t} with the
/// queries' rank less one (an Eigen vector is ℝ^{t}), else ShapeError. −inf for a row that sees no key and has no sink.
///
/// ```cpp
/// heed::Tensor<float, 3> lse(2, 4, 5);  // ℝ^{b×h×t}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::logsumexp(lse));
/// ```
template <TensorLike X>
auto logsumexp(X&& target) {
  const auto v = detail::output_view(std::forward<X>(target));
  if constexpr (EigenVector<X>) {
    return modifiers::LogSumExp<ScalarOf<X>, 1>(detail::eigen_vector_view(target));
  } else {
    return modifiers::LogSumExp<ScalarOf<X>, rank_of<X>>(v);
  }
}

/// Also writes the scores at this place among the score modifiers, for looking at: first, the scaled products; after
/// soft_cap, the capped ones. Hidden pairs have scores too, but none past the key length, where −inf is written.
/// ℝ^{b×h×t×s} with the queries' rank, else ShapeError.
///
/// ```cpp
/// heed::Tensor<float, 4> capped(2, 4, 5, 7);  // ℝ^{b×h×t×s}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::soft_cap(2), heed::scores(capped), heed::causal());
/// ```
template <TensorLike X>
auto scores(X&& target) {
  return modifiers::Scores<ScalarOf<X>, rank_of<X>>(detail::output_view(std::forward<X>(target)));
}

/// Also writes the scores that the softmax sees, −inf where a pair is hidden, for looking at. ℝ^{b×h×t×s} with the
/// queries' rank, else ShapeError.
///
/// ```cpp
/// heed::Tensor<float, 4> seen(2, 4, 5, 7);  // ℝ^{b×h×t×s}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::causal(), heed::final_scores(seen));
/// ```
template <TensorLike X>
auto final_scores(X&& target) {
  return modifiers::FinalScores<ScalarOf<X>, rank_of<X>>(detail::output_view(std::forward<X>(target)));
}

/// Also writes the weights that the values get, after sinks, prob_mod and dropout, for looking at: what
/// attention_weights returns. ℝ^{b×h×t×s} with the queries' rank, else ShapeError.
///
/// ```cpp
/// heed::Tensor<float, 4> weights(2, 4, 5, 7);  // ℝ^{b×h×t×s}
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::weights(weights));
/// ```
template <TensorLike X>
auto weights(X&& target) {
  return modifiers::Weights<ScalarOf<X>, rank_of<X>>(detail::output_view(std::forward<X>(target)));
}

}  // namespace heed
