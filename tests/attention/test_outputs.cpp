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
