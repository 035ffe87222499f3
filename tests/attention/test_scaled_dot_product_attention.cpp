#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

using heed::Index;
using heed::Shape;
using heed::Strides;
using heed::Tensor;
using heed::TensorView;
using support::bits;
using support::same_bits;
using support::Sizes;

namespace {

/// Whether corresponding elements differ by at most `units` of the largest.
template <class T, int R>
bool close(const Tensor<T, R>& a, const Tensor<T, R>& b, double units) {
  bool close = a.shape() == b.shape();
  T largest = 0;
  for (Index n = 0; n < b.size(); ++n) largest = std::max(largest, std::abs(b.data()[n]));
  const double limit = units * static_cast<double>(std::numeric_limits<T>::epsilon() * largest);
  for (Index n = 0; close && n < a.size(); ++n)
    close = std::abs(static_cast<double>(a.data()[n] - b.data()[n])) <= limit;
  return close;
}

}  // namespace

TEMPLATE_TEST_CASE("attention without options agrees with the loops at hostile sizes",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  std::mt19937 rng(10);
  for (const Index s : support::hostile_sizes)
    for (const Index d : support::hostile_sizes)
      for (const Index e : support::hostile_sizes) {
        const Index t = support::hostile_sizes[rng() % std::size(support::hostile_sizes)];
        const Sizes n{2, 2, 1, t, s, d, e};
        INFO(to_string(n));
        const auto x = support::random_inputs<T>(n, rng);
        const auto truth = support::plain_attention<long double>(x, support::Options<T>(n));
        const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v);
        CHECK(out.shape() == Shape<4>(2, 2, t, e));
        CHECK(support::worst(out, truth.out, truth.out_bound) <= 1);
      }
}

TEMPLATE_TEST_CASE("no queries, keys or batches give empty or zero results",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  const Sizes sizes[] = {{2, 2, 1, 0, 3, 2, 2}, {2, 2, 1, 3, 0, 2, 5}, {0, 2, 1, 3, 3, 2, 2},
                         {2, 0, 1, 3, 3, 2, 2}, {2, 2, 1, 0, 0, 2, 2}, {0, 0, 0, 0, 0, 1, 1}};
  for (const Sizes& n : sizes) {
    INFO(to_string(n));
    const auto x = support::random_inputs<T>(n);
    support::Options<T> options(n);
    options.causality = support::Causality::lower_right;
    Tensor<T, 3> lse(n.b, n.h, n.t);
    Tensor<T, 4> out = support::filled(Shape<4>(n.b, n.h, n.t, n.e), T(7));
    const auto weights = support::with_modifiers(options, TensorView<T, 3>(lse), [&](const auto&... m) {
      heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, m...);
      return heed::attention_weights(x.q, x.k, m...);
    });
    CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v), out));
    CHECK(weights.shape() == Shape<4>(n.b, n.h, n.t, n.s));
    CHECK(same_bits(out, Tensor<T, 4>(out.shape())));
    CHECK(same_bits(lse, support::filled(lse.shape(), -std::numeric_limits<T>::infinity())));
  }
}

TEMPLATE_TEST_CASE("ranks 2 and 3 are rank 4 with one batch and one head", "[attention][scaled_dot_product_attention]",
                   float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({3, 4, 2, 5, 7, 3, 2});
  std::mt19937 rng(11);
  const auto mask = support::random<bool>(rng, 4, 5, 7);
  Tensor<T, 3> lse(3, 4, 5);
  const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask(mask), heed::logsumexp(lse));
  const auto weights = heed::attention_weights(x.q, x.k, heed::mask(mask));
  for (Index b = 0; b < 3; ++b) {
    Tensor<T, 2> lse_3(4, 5);
    const Tensor<T, 3> out_3 =
        heed::scaled_dot_product_attention(x.q[b], x.k[b], x.v[b], heed::mask(mask), heed::logsumexp(lse_3));
    const Tensor<T, 3> weights_3 = heed::attention_weights(x.q[b], x.k[b], heed::mask(mask));
    CHECK(same_bits(out_3, out[b]));
    CHECK(same_bits(lse_3, lse[b]));
    CHECK(same_bits(weights_3, weights[b]));
    for (Index h = 0; h < 4; ++h) {
      const auto q = x.q[b][h], k = x.k[b][h / 2], v = x.v[b][h / 2];
      Tensor<T, 1> lse_2(5);
      const Tensor<T, 2> out_2 =
          heed::scaled_dot_product_attention(q, k, v, heed::mask(mask[h]), heed::logsumexp(lse_2));
      const Tensor<T, 2> weights_2 = heed::attention_weights(q, k, heed::mask(mask[h]));
      CHECK(same_bits(out_2, out[b][h]));
      CHECK(same_bits(lse_2, lse[b][h]));
      CHECK(same_bits(weights_2, weights[b][h]));
    }
  }
}

TEMPLATE_TEST_CASE("grouped queries read the key head that repeating it would give",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 6, 2, 3, 5, 3, 2});
  Tensor<T, 4> k(2, 6, 5, 3), v(2, 6, 5, 2);
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 6; ++h) {
      heed::copy_into(k[b][h], x.k[b][h < 3 ? 0 : 1]);
      heed::copy_into(v[b][h], x.v[b][h < 3 ? 0 : 1]);
    }
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v), heed::scaled_dot_product_attention(x.q, k, v)));
}

TEMPLATE_TEST_CASE("strided inputs give the bits of contiguous ones", "[attention][scaled_dot_product_attention]",
                   float, double) {
  using T = TestType;
  const Sizes n{2, 4, 2, 5, 9, 3, 4};
  const auto x = support::random_inputs<T>(n);
  std::mt19937 rng(12);
  const auto bias = support::random<T>(rng, n.b, n.h, n.t, n.s);
  const auto mask = support::random<bool>(rng, n.b, n.h, n.t, n.s);
  const auto expected = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::bias(bias), heed::mask(mask));
  Tensor<bool, 4> wide_mask(n.b, n.h, n.s, 2 * n.t);  // transposed, every second column
  const auto mask_view = heed::transpose(heed::slice(wide_mask, 3, 0, 2 * n.t, 2), 2, 3);
  heed::copy_into(mask_view, mask);
  for (const auto& layout : support::layouts) {
    support::LaidOut<T, 4> q(x.q, layout), k(x.k, layout), v(x.v, layout), biases(bias, layout);
    CHECK(same_bits(heed::scaled_dot_product_attention(q.view(), k.view(), v.view(), heed::bias(biases.view()),
                                                       heed::mask(mask_view)),
                    expected));
    CHECK(same_bits(heed::scaled_dot_product_attention(x.q, k.view(), x.v, heed::bias(bias), heed::mask(mask_view)),
                    expected));
    CHECK(same_bits(heed::attention_weights(q.view(), k.view()), heed::attention_weights(x.q, x.k)));
    CHECK(q.gaps_are_untouched());
  }
}

TEMPLATE_TEST_CASE("broadcast inputs give the bits of repeated ones", "[attention][scaled_dot_product_attention]",
                   float, double) {
  using T = TestType;
  std::mt19937 rng(13);
  const Tensor<T, 1> q = support::random<T>(rng, 3);
  const Tensor<T, 2> k = support::random<T>(rng, 5, 3);
  const Tensor<T, 3> v = support::random<T>(rng, 2, 5, 4);
  const auto queries = heed::view(q.data(), Shape<4>(2, 2, 4, 3), Strides<4>{0, 0, 0, 1});
  const auto keys = heed::view(k.data(), Shape<4>(2, 2, 5, 3), Strides<4>{0, 0, 3, 1});
  const auto values = heed::view(v.data(), Shape<4>(2, 2, 5, 4), Strides<4>{0, 20, 4, 1});
  const auto out = heed::scaled_dot_product_attention(queries, keys, values);
  CHECK(same_bits(out, heed::scaled_dot_product_attention(heed::copy(queries), heed::copy(keys), heed::copy(values))));
  CHECK(same_bits(out[0], out[1]));
}

TEMPLATE_TEST_CASE("Eigen objects of any storage order, blocks and temporaries are inputs",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto x = support::random_inputs<T>({1, 1, 1, 4, 6, 3, 2});
  const auto q = x.q[0][0], k = x.k[0][0], v = x.v[0][0];
  const Tensor<T, 2> expected = heed::scaled_dot_product_attention(q, k, v);
  const Columns column_q = q.matrix(), column_k = k.matrix();
  const Rows row_v = v.matrix(), row_k = k.matrix();
  CHECK(same_bits(heed::scaled_dot_product_attention(column_q, row_k, row_v), expected));
  CHECK(same_bits(heed::scaled_dot_product_attention(q.matrix(), column_k.array(), Columns(row_v)), expected));
  const Columns turned = k.matrix().transpose();
  CHECK(same_bits(heed::scaled_dot_product_attention(q, turned.transpose(), v), expected));
  Columns large = Columns::Constant(13, 9, std::numeric_limits<T>::quiet_NaN());
  for (Index j = 0; j < 6; ++j) large.row(2 * j).segment(3, 3) = row_k.row(j);
  CHECK(same_bits(heed::scaled_dot_product_attention(q, heed::slice(large.block(0, 3, 12, 3), 0, 0, 12, 2), v),
                  expected));
  const Eigen::Ref<const Columns> reference = column_k;
  CHECK(same_bits(heed::scaled_dot_product_attention(q, reference, v), expected));
  const Eigen::Matrix<T, Eigen::Dynamic, 1> one_value = v.matrix().col(0);  // ℝ^{6×1}
  CHECK(same_bits(heed::scaled_dot_product_attention(q, k, one_value), heed::slice(expected, 1, 0, 1)));
}

TEMPLATE_TEST_CASE("heads split from one matrix, attended and merged, are each head alone",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  std::mt19937 rng(14);
  const auto q = support::random<T>(rng, 2, 5, 8), k = support::random<T>(rng, 2, 6, 4),
             v = support::random<T>(rng, 2, 6, 6);
  Tensor<T, 3> merged(2, 5, 12);
  heed::scaled_dot_product_attention_into(heed::split_heads(merged, 4), heed::split_heads(q, 4),
                                          heed::split_heads(k, 2), heed::split_heads(v, 2), heed::causal());
  CHECK(same_bits(merged,
                  heed::merge_heads(heed::scaled_dot_product_attention(heed::split_heads(q, 4), heed::split_heads(k, 2),
                                                                       heed::split_heads(v, 2), heed::causal()))));
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 4; ++h) {
      const auto columns = [&](const auto& x, Index head, Index size) {
        return heed::slice(x[b], 1, head * size, (head + 1) * size);
      };
      CHECK(same_bits(columns(merged, h, 3), heed::scaled_dot_product_attention(columns(q, h, 2), columns(k, h / 2, 2),
                                                                                columns(v, h / 2, 3), heed::causal())));
    }
}

TEMPLATE_TEST_CASE("logits of ±1e4 neither overflow nor lose the row", "[attention][scaled_dot_product_attention]",
                   float, double) {
  using T = TestType;
  const Tensor<T, 2> q{{100}, {-100}}, k{{100}, {-100}, {99}}, v{{1}, {2}, {4}};
  Tensor<T, 1> lse(2);
  const auto out = heed::scaled_dot_product_attention(q, k, v, heed::logsumexp(lse));
  CHECK(out(0, 0) == 1);
  CHECK(out(1, 0) == 2);
  CHECK(lse(0) == T(1e4));
  CHECK(lse(1) == T(1e4));
  for (const T shift : {T(1e4), T(-1e4)}) {  // all scores alike
    const Tensor<T, 2> biases = support::filled(Shape<2>(1, 3), shift);
    const auto weights = heed::attention_weights(Tensor<T, 2>(2, 1), k, heed::bias(biases), heed::logsumexp(lse));
    for (Index n = 0; n < 6; ++n) CHECK(weights.data()[n] == T(1) / T(3));
    CHECK(std::abs(static_cast<double>(lse(0) - shift) - std::log(3.0)) <
          1e4 * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

TEMPLATE_TEST_CASE("weights are the output for the identity as values, and each row of them sums to one",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 2, 2, 7, 17, 3, 1});
  Tensor<T, 4> identity(2, 2, 17, 17);
  for (Index n = 0; n < 4; ++n)
    for (Index j = 0; j < 17; ++j) identity(n / 2, n % 2, j, j) = 1;
  const auto weights = heed::attention_weights(x.q, x.k, heed::causal_lower_right());
  CHECK(support::almost_same(weights,
                             heed::scaled_dot_product_attention(x.q, x.k, identity, heed::causal_lower_right())));
  const auto sums = heed::scaled_dot_product_attention(x.q, x.k, support::filled(Shape<4>(2, 2, 17, 1), T(1)));
  CHECK(close(sums, support::filled(sums.shape(), T(1)), 17));
}

TEMPLATE_TEST_CASE("a shift of all scores of a row changes its log-sum-exp alone",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 2, 2, 7, 17, 3, 3});
  Tensor<T, 2> shift(7, 1);
  for (Index i = 0; i < 7; ++i) shift(i, 0) = static_cast<T>(4 * i - 13);
  Tensor<T, 3> lse(1, 2, 7), shifted_lse(1, 2, 7);
  const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::logsumexp(lse));
  CHECK(close(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::bias(shift), heed::logsumexp(shifted_lse)), out,
              64));
  for (Index n = 0; n < lse.size(); ++n) lse.data()[n] += shift(n % 7, 0);
  CHECK(close(shifted_lse, lse, 8));
}

TEMPLATE_TEST_CASE("the order of keys does not matter, and zeros may fill up the head size",
                   "[attention][scaled_dot_product_attention]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 1, 1, 7, 17, 3, 3});
  const auto q = x.q[0][0], k = x.k[0][0], v = x.v[0][0];
  const auto reversed = [](const auto& y) {
    return heed::view(&y(y.shape()[0] - 1, 0), y.shape(), Strides<2>{-y.strides()[0], y.strides()[1]});
  };
  const auto out = heed::scaled_dot_product_attention(q, k, v);
  CHECK(close(heed::scaled_dot_product_attention(q, reversed(k), reversed(v)), out, 64));

  Tensor<T, 2> padded_q(7, 8), padded_k(17, 8);
  heed::copy_into(heed::slice(padded_q, 1, 0, 3), q);
  heed::copy_into(heed::slice(padded_k, 1, 0, 3), k);
  CHECK(same_bits(heed::scaled_dot_product_attention(padded_q, padded_k, v, heed::scale(0.25)),
                  heed::scaled_dot_product_attention(q, k, v, heed::scale(0.25))));
}

TEST_CASE("scalar type and rank of the result are those of the query", "[attention][scaled_dot_product_attention]") {
  const Eigen::MatrixXd m = Eigen::MatrixXd::Zero(2, 3);
  STATIC_REQUIRE((std::is_same_v<decltype(heed::scaled_dot_product_attention(m, m, m)), Tensor<double, 2>>));
  const Tensor<float, 3> x(1, 2, 3);
  STATIC_REQUIRE((std::is_same_v<decltype(heed::attention_weights(x, x)), Tensor<float, 3>>));
}
