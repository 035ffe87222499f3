#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

using core_tests::shape_error;
using core_tests::value_error;
using heed::Index;
using heed::Shape;
using heed::Tensor;
using support::same_bits;
using support::Sizes;

TEMPLATE_TEST_CASE("the log-sum-exp is that of the scaled, biased and masked scores", "[attention][outputs]", float,
                   double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Tensor<T, 2> q{{2}}, k{{1}, {3}, {5}}, v(3, 1);
  const Tensor<T, 2> bias{{0, 1, 0}};
  const Tensor<bool, 2> mask{{true, true, false}};
  Tensor<T, 1> lse(1);
  heed::scaled_dot_product_attention(q, k, v, heed::scale(0.5), heed::bias(bias), heed::mask(mask),
                                     heed::logsumexp(lse), heed::dropout(0.9, heed::Philox{}));  // before dropout
  CHECK(std::abs(static_cast<double>(lse(0)) - std::log(std::exp(1.0) + std::exp(4.0))) <
        4 * 4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  heed::scaled_dot_product_attention(q, k, v, heed::key_lengths({0}), heed::logsumexp(lse));
  CHECK(lse(0) == -inf);
}

TEMPLATE_TEST_CASE("the log-sum-exp goes into any view, an Eigen vector too", "[attention][outputs]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 3, 3, 4, 5, 2, 2});
  Tensor<T, 3> all(2, 3, 4);
  heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::logsumexp(all));
  Tensor<T, 2> heads(3, 4);
  heed::scaled_dot_product_attention(x.q[1], x.k[1], x.v[1], heed::logsumexp(heads));
  CHECK(same_bits(heads, all[1]));

  const auto attend = [&](auto&& lse) {
    heed::scaled_dot_product_attention(x.q[1][2], x.k[1][2], x.v[1][2], heed::logsumexp(lse));
  };
  Tensor<T, 1> one(4);
  attend(one);
  CHECK(same_bits(one, all[1][2]));
  Eigen::Matrix<T, Eigen::Dynamic, 1> column(4);
  attend(column);
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> matrix = Eigen::Matrix<T, 4, 4>::Constant(7);
  attend(matrix.row(1));
  for (Index i = 0; i < 4; ++i) {
    CHECK(column(i) == one(i));
    CHECK(matrix(1, i) == one(i));
    CHECK(matrix(2, i) == 7);
  }
  support::LaidOut<T, 3> gapped(Tensor<T, 3>(2, 3, 4), {{2, 0, 1}, 2, 3, {false, true, false}});
  heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::logsumexp(gapped.view()));
  CHECK(same_bits(gapped.view(), all));
  CHECK(gapped.gaps_are_untouched());
}

TEMPLATE_TEST_CASE("scores are those at their place, final scores those the softmax sees", "[attention][outputs]",
                   float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Tensor<T, 2> q{{1}, {2}}, k{{1}, {3}, {-1}, {5}};
  const Tensor<T, 2> bias{{0, 1, -inf, 0}};
  Tensor<T, 2> scores(2, 4), last(2, 4);
  const auto attend = [&](const auto&... m) {
    heed::attention_weights(q, k, heed::scale(1), heed::key_lengths({3}), m..., heed::causal(),
                            heed::final_scores(last));
  };
  attend(heed::scores(scores), heed::bias(bias));
  CHECK(same_bits(scores, Tensor<T, 2>{{1, 3, -1, -inf}, {2, 6, -2, -inf}}));
  CHECK(same_bits(last, Tensor<T, 2>{{1, -inf, -inf, -inf}, {2, 7, -inf, -inf}}));
  attend(heed::bias(bias), heed::scores(scores));
  CHECK(same_bits(scores, Tensor<T, 2>{{1, 4, -inf, -inf}, {2, 7, -inf, -inf}}));
  CHECK(same_bits(last, Tensor<T, 2>{{1, -inf, -inf, -inf}, {2, 7, -inf, -inf}}));
}

TEMPLATE_TEST_CASE("an output changes no result", "[attention][outputs]", float, double) {
  using T = TestType;
  constexpr T large = std::numeric_limits<T>::max();
  // The product overflows to −inf, which hides the pair: the cap does not bring it back.
  const Tensor<T, 2> q{{large}, {1}}, k{{-large}, {2}}, v{{1}, {3}};
  Tensor<T, 2> scores(2, 2), last(2, 2), weights(2, 2);
  Tensor<T, 1> lse(2);
  const auto plain = heed::scaled_dot_product_attention(q, k, v, heed::soft_cap(2));
  CHECK(plain(0, 0) == 3);
  const auto out =
      heed::scaled_dot_product_attention(q, k, v, heed::scores(scores), heed::soft_cap(2), heed::weights(weights),
                                         heed::final_scores(last), heed::logsumexp(lse));
  CHECK(same_bits(out, plain));
  CHECK(scores(0, 0) == -std::numeric_limits<T>::infinity());
  CHECK(last(0, 0) == -std::numeric_limits<T>::infinity());
  CHECK(weights(0, 0) == 0);
  const auto same = heed::score_mod([](T score, auto...) { return score; });
  CHECK(same_bits(heed::scaled_dot_product_attention(q, k, v, same, heed::soft_cap(2)), plain));
}

TEMPLATE_TEST_CASE("weights are those that attention_weights returns", "[attention][outputs]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 4, 2, 3, 5, 2, 3});
  const auto modifiers = [&](const auto& call) {
    return call(heed::dropout(0.3, heed::Philox{1, 2}), heed::causal_lower_right(),
                heed::sinks({T(1), T(2), T(3), T(4)}),
                heed::prob_mod([](T weight, auto...) { return weight * weight; }));
  };
  Tensor<T, 4> weights(2, 4, 3, 5), again(2, 4, 3, 5);
  modifiers([&](const auto&... m) {
    heed::scaled_dot_product_attention(x.q, x.k, x.v, m..., heed::weights(weights));
    const auto returned = heed::attention_weights(x.q, x.k, heed::weights(again), m...);
    CHECK(same_bits(weights, returned));
    CHECK(same_bits(again, returned));
  });
}

TEMPLATE_TEST_CASE("outputs have the shape of the scores, at any rank and layout", "[attention][outputs]", float,
                   double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 2, 2, 3, 5, 2, 2});
  const auto all = heed::attention_weights(x.q, x.k);
  Tensor<T, 3> heads(2, 3, 5);
  heed::scaled_dot_product_attention(x.q[1], x.k[1], x.v[1], heed::weights(heads));
  CHECK(same_bits(heads, all[1]));
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> matrix(3, 5);
  heed::scaled_dot_product_attention(x.q[1][0], x.k[1][0], x.v[1][0], heed::weights(matrix));
  CHECK(same_bits(matrix, all[1][0]));
  for (const auto& layout : support::layouts) {
    support::LaidOut<T, 4> gapped(Tensor<T, 4>(2, 2, 3, 5), layout);
    heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::weights(gapped.view()));
    CHECK(same_bits(gapped.view(), all));
    CHECK(gapped.gaps_are_untouched());
  }
}

TEST_CASE("outputs of another shape are refused before anything is written", "[attention][outputs]") {
  const auto x = support::random_inputs<float>({2, 2, 2, 3, 5, 2, 2});
  auto out = support::filled(Shape<4>(2, 2, 3, 2), 7.0f);
  auto bad = support::filled(Shape<4>(2, 2, 5, 3), 7.0f);
  auto good = support::filled(Shape<4>(2, 2, 3, 5), 7.0f);
  const auto refused = [&](const auto& wrong) {
    return shape_error(
        [&] { heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, heed::weights(good), wrong); });
  };
  const std::string name = "heed::scaled_dot_product_attention_into: ";
  CHECK(refused(heed::scores(bad)) == name + "scores is ℝ^{2×2×5×3}, but it must be ℝ^{2×2×3×5}");
  CHECK(refused(heed::final_scores(bad)) == name + "final_scores is ℝ^{2×2×5×3}, but it must be ℝ^{2×2×3×5}");
  CHECK(shape_error([&] { heed::attention_weights(x.q[0], x.k[0], heed::weights(bad[0])); }) ==
        "heed::attention_weights: weights is ℝ^{2×5×3}, but it must be ℝ^{2×3×5}");
  for (const auto* untouched : {&out, &bad, &good})
    CHECK(same_bits(*untouched, support::filled(untouched->shape(), 7.0f)));
}

TEST_CASE("outputs share no element with each other or with an input", "[attention][outputs]") {
  auto x = support::random_inputs<float>({1, 2, 2, 3, 3, 3, 3});
  Tensor<float, 4> scores(1, 2, 3, 3), out(1, 2, 3, 3), both(1, 4, 3, 3);
  const auto refused = [&](const auto&... m) {
    return value_error([&] { heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, m...); });
  };
  const std::string name = "heed::scaled_dot_product_attention_into: the output";
  CHECK(refused(heed::weights(scores), heed::final_scores(scores)) ==
        name + "s final_scores ℝ^{1×2×3×3} and weights ℝ^{1×2×3×3} share elements");
  CHECK(refused(heed::scores(out)) == name + "s scores ℝ^{1×2×3×3} and out ℝ^{1×2×3×3} share elements");
  CHECK(refused(heed::weights(x.k)) == name + " weights ℝ^{1×2×3×3} shares elements with the input k ℝ^{1×2×3×3}");
  CHECK(refused(heed::bias(scores), heed::weights(scores)) ==
        name + " weights ℝ^{1×2×3×3} shares elements with the input bias ℝ^{1×2×3×3}");
  CHECK_NOTHROW(heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, heed::weights(heed::slice(both, 1, 0, 2)),
                                                        heed::final_scores(heed::slice(both, 1, 2, 4))));
}
