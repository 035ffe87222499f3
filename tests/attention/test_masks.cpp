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

TEMPLATE_TEST_CASE("causal equals the mask of keys j ≤ i, lower-right that of j ≤ i + s − t", "[attention][masks]",
                   float, double) {
  using T = TestType;
  for (const Index t : support::hostile_sizes)
    for (const Index s : support::hostile_sizes) {
      CAPTURE(t, s);
      const auto x = support::random_inputs<T>({1, 2, 2, t, s, 3, 2});
      Tensor<bool, 2> upper_left(t, s), lower_right(t, s);
      for (Index i = 0; i < t; ++i)
        for (Index j = 0; j < s; ++j) {
          upper_left(i, j) = j <= i;
          lower_right(i, j) = s - j >= t - i;
        }
      const auto attend = [&](const auto& m) { return heed::scaled_dot_product_attention(x.q, x.k, x.v, m); };
      CHECK(same_bits(attend(heed::causal()), attend(heed::mask(upper_left))));
      CHECK(same_bits(attend(heed::causal_lower_right()), attend(heed::mask(lower_right))));
    }
}

TEMPLATE_TEST_CASE("key lengths equal a problem of only so many keys", "[attention][masks]", float, double) {
  using T = TestType;
  for (const Index s : {1, 7, 33})
    for (Index length = 0; length <= s; ++length) {
      CAPTURE(s, length);
      const auto x = support::random_inputs<T>({2, 4, 2, 5, s, 3, 2});
      const std::vector<Index> lengths{length, s - length};
      Tensor<T, 3> lse(2, 4, 5);
      const auto check = [&](const auto&... modifiers) {
        const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths(lengths),
                                                            heed::logsumexp(lse), modifiers...);
        for (const Index b : {0, 1}) {
          const Index n = lengths[static_cast<std::size_t>(b)];
          Tensor<T, 3> expected_lse(2, 4, 5);
          const auto expected = heed::scaled_dot_product_attention(
              x.q, heed::slice(x.k, 2, 0, n), heed::slice(x.v, 2, 0, n), heed::logsumexp(expected_lse), modifiers...);
          CHECK(same_bits(out[b], expected[b]));
          CHECK(same_bits(lse[b], expected_lse[b]));
        }
      };
      check();
      check(heed::causal());
      check(heed::causal_lower_right());  // the offset is length − t
      check(heed::dropout(0.4, heed::Philox{5, 6}), heed::scale(0.7));
    }
}

TEMPLATE_TEST_CASE("key lengths come in any range of integers", "[attention][masks]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 1, 1, 3, 7, 2, 2});
  const auto attend = [&](const auto& lengths) {
    return heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths(lengths));
  };
  const auto expected = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths({3, 6}));
  CHECK(!same_bits(expected, heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths({6, 3}))));
  const std::vector<int> ints{3, 6};
  const std::array<std::size_t, 2> unsigned_ones{3, 6};
  const short shorts[] = {3, 6};
  const Tensor<Index, 1> tensor{3, 6};
  const Eigen::Matrix<Index, Eigen::Dynamic, 1> column = Eigen::Matrix<Index, 2, 1>(3, 6);
  const Eigen::RowVector2i row(3, 6);
  Eigen::Matrix<int, 2, 2, Eigen::RowMajor> matrix;
  matrix << 3, 0, 6, 0;
  CHECK(same_bits(attend(ints), expected));
  CHECK(same_bits(attend(std::vector<Index>{3, 6}), expected));
  CHECK(same_bits(attend(unsigned_ones), expected));
  CHECK(same_bits(attend(shorts), expected));
  CHECK(same_bits(attend(std::span<const int>(ints)), expected));
  CHECK(same_bits(attend(tensor), expected));
  CHECK(same_bits(attend(heed::view(tensor)), expected));
  CHECK(same_bits(attend(column), expected));
  CHECK(same_bits(attend(row), expected));
  CHECK(same_bits(attend(matrix.col(0)), expected));  // with a stride
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q[1], x.k[1], x.v[1], heed::key_lengths({6})), expected[1]));
}

TEST_CASE("key lengths are one for each in the batch, and none is negative or above the keys", "[attention][masks]") {
  const auto x = support::random_inputs<float>({2, 1, 1, 3, 7, 2, 2});
  const auto refusal = [&](const std::vector<Index>& lengths) {
    return shape_error([&] { heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths(lengths)); });
  };
  const std::string start = "heed::scaled_dot_product_attention: key_lengths is ";
  CHECK(refusal({7}) == start + "ℝ^{1}, but there must be one for each of 2 in the batch");
  CHECK(refusal({7, 7, 7}) == start + "ℝ^{3}, but there must be one for each of 2 in the batch");
  CHECK(refusal({7, 8}) == start + "ℝ^{2} with the length 8, which is not in [0, 7], the number of keys");
  CHECK(refusal({-1, 7}) == start + "ℝ^{2} with the length -1, which is not in [0, 7], the number of keys");
  const std::array<std::size_t, 2> huge{std::numeric_limits<std::size_t>::max(), 7};  // not −1
  CHECK_THROWS_AS(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths(huge)), heed::ShapeError);
}

TEMPLATE_TEST_CASE("masks and biases of rank 2 to 4 repeat along axes of size 1", "[attention][masks]", float, double) {
  using T = TestType;
  const Sizes n{2, 4, 2, 3, 5, 3, 2};
  const auto x = support::random_inputs<T>(n);
  std::mt19937 rng(5);
  const auto check = [&](const auto& mask, const auto& bias) {
    Tensor<bool, 4> full_mask(n.b, n.h, n.t, n.s);
    Tensor<T, 4> full_bias(n.b, n.h, n.t, n.s);
    const auto stretch = [&](auto& full, const auto& part) {
      const auto lifted = heed::detail::lift<4>(heed::view(part));
      const auto& p = lifted.shape();
      for (Index b = 0; b < n.b; ++b)
        for (Index h = 0; h < n.h; ++h)
          for (Index i = 0; i < n.t; ++i)
            for (Index j = 0; j < n.s; ++j) full(b, h, i, j) = lifted(b % p[0], h % p[1], i % p[2], j % p[3]);
    };
    stretch(full_mask, mask);
    stretch(full_bias, bias);
    const auto attend = [&](const auto& m) { return heed::scaled_dot_product_attention(x.q, x.k, x.v, m); };
    CHECK(same_bits(attend(heed::mask(mask)), attend(heed::mask(full_mask))));
    CHECK(same_bits(attend(heed::bias(bias)), attend(heed::bias(full_bias))));
  };
  for (int axes = 0; axes < 16; ++axes) {
    CAPTURE(axes);
    const auto size = [&](int axis, Index full) { return (axes & (1 << axis)) != 0 ? full : Index{1}; };
    const Index b = size(3, n.b), h = size(2, n.h), t = size(1, n.t), s = size(0, n.s);
    check(support::random<bool>(rng, b, h, t, s), support::random<T>(rng, b, h, t, s));
    if (axes < 8) check(support::random<bool>(rng, h, t, s), support::random<T>(rng, h, t, s));
    if (axes < 4) check(support::random<bool>(rng, t, s), support::random<T>(rng, t, s));
  }
}

TEMPLATE_TEST_CASE("masks and biases may be Eigen objects and views", "[attention][masks]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 1, 1, 3, 5, 2, 2});
  std::mt19937 rng(6);
  const auto mask = support::random<bool>(rng, 3, 5);
  const auto bias = support::random<T>(rng, 3, 5);
  const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> eigen_mask = mask.matrix().array();
  const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> turned_bias = bias.matrix().transpose();
  const auto attend = [&](const auto&... m) { return heed::scaled_dot_product_attention(x.q, x.k, x.v, m...); };
  const auto expected = attend(heed::mask(mask), heed::bias(bias));
  CHECK(same_bits(attend(heed::mask(eigen_mask), heed::bias(turned_bias.transpose())), expected));
  CHECK(same_bits(attend(heed::mask(heed::view(mask)), heed::bias(heed::transpose(turned_bias, 0, 1))), expected));
  const Eigen::Matrix<T, 1, Eigen::Dynamic> row = bias.matrix().row(1);
  CHECK(same_bits(attend(heed::bias(row)), attend(heed::bias(heed::slice(bias, 0, 1, 2)))));
}
