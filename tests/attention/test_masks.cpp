#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
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

TEST_CASE("an empty list of key lengths is that of an empty batch", "[attention][masks]") {
  const Tensor<float, 4> x(0, 2, 3, 4);
  CHECK(heed::scaled_dot_product_attention(x, x, x, heed::key_lengths({})).shape() == x.shape());
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

namespace {

/// The pairs of one head that a query sees, a row of 1 and . for each query.
template <class... M>
std::vector<std::string> seen(Index t, Index s, const M&... modifiers) {
  const auto x = support::random_inputs<float>({1, 1, 1, t, s, 2, 2});
  const auto weights = heed::attention_weights(x.q, x.k, modifiers...);
  std::vector<std::string> rows(static_cast<std::size_t>(t));
  for (Index i = 0; i < t; ++i)
    for (Index j = 0; j < s; ++j) rows[static_cast<std::size_t>(i)] += weights(0, 0, i, j) > 0 ? '1' : '.';
  return rows;
}
using Rows = std::vector<std::string>;

bool function_of_even_keys(Index, Index, Index, Index j) { return j % 2 == 0; }

}  // namespace

TEST_CASE("a window is a band around a query's position", "[attention][masks]") {
  using heed::sliding_window;
  CHECK(seen(4, 6, sliding_window(1, 2)) == Rows{"111...", "1111..", ".1111.", "..1111"});
  CHECK(seen(4, 4, sliding_window(0, 0)) == Rows{"1...", ".1..", "..1.", "...1"});
  CHECK(seen(4, 4, sliding_window(1, heed::unbounded)) == Rows{"1111", "1111", ".111", "..11"});
  CHECK(seen(3, 4, sliding_window(heed::unbounded, 1)) == Rows{"11..", "111.", "1111"});
  CHECK(seen(2, 3, sliding_window(heed::unbounded, heed::unbounded)) == Rows{"111", "111"});
  CHECK(seen(4, 4, heed::causal(), sliding_window(1, 3)) == Rows{"1...", "11..", ".11.", "..11"});
  CHECK(seen(5, 2, sliding_window(1, 0)) == Rows{"1.", "11", ".1", "..", ".."});
}

TEST_CASE("a window moves with the positions of the queries", "[attention][masks]") {
  using heed::sliding_window;
  CHECK(seen(2, 5, heed::causal_lower_right(), sliding_window(1, 0)) == Rows{"..11.", "...11"});
  CHECK(seen(2, 5, sliding_window(1, 0), heed::key_lengths({4}), heed::causal_lower_right()) == Rows{".11..", "..11."});
  CHECK(seen(4, 2, heed::causal_lower_right(), sliding_window(heed::unbounded, 0)) == Rows{"..", "..", "1.", "11"});
  CHECK(seen(4, 2, heed::causal_lower_right(), sliding_window(0, heed::unbounded)) == Rows{"..", "..", "1.", ".1"});
}

TEST_CASE("the sides of a window are not negative", "[attention][masks]") {
  CHECK(value_error([] { heed::sliding_window(-1, 0); }) ==
        "heed::sliding_window: left and right must not be negative, got -1 and 0");
  CHECK(value_error([] { heed::sliding_window(3, -7); }) ==
        "heed::sliding_window: left and right must not be negative, got 3 and -7");
}

TEMPLATE_TEST_CASE("a mask_mod is called with batch, head, query and key of pairs that exist", "[attention][masks]",
                   float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 4, 2, 3, 5, 2, 2});
  std::set<std::tuple<Index, Index, Index, Index>> called;
  const auto record = [&called](Index b, Index h, Index i, Index j) {
    called.insert({b, h, i, j});
    return true;
  };
  heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask_mod(record), heed::key_lengths({5, 2}),
                                     heed::causal_lower_right());
  for (const auto& [b, h, i, j] : called) {
    CHECK((0 <= b && b < 2 && 0 <= h && h < 4 && 0 <= i && i < 3));
    CHECK((0 <= j && j < (b == 0 ? 5 : 2)));
  }
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 4; ++h)
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j <= (b == 0 ? i + 2 : i - 1); ++j) CHECK(called.count({b, h, i, j}) == 1);
}

TEST_CASE("a mask_mod gets the raw index of a query, not its position", "[attention][masks]") {
  const auto first = heed::mask_mod([](Index, Index, Index i, Index j) { return i == j; });
  CHECK(seen(2, 4, heed::causal_lower_right(), first) == Rows{"1...", ".1.."});
}

TEST_CASE("several masks of every kind intersect", "[attention][masks]") {
  const Tensor<bool, 2> not_last{{true, true, true, true, false}};
  const auto even = heed::mask_mod([](Index, Index, Index, Index j) { return j % 2 == 0; });
  const auto far = heed::mask_mod([](Index, Index, Index i, Index j) { return i + j > 1; });
  CHECK(seen(3, 5, even, heed::mask(not_last), far) == Rows{"..1..", "..1..", "1.1.."});
  CHECK(seen(3, 5, far, heed::causal(), even) == Rows{".....", ".....", "1.1.."});
}

TEST_CASE("a mask_mod is any callable, and keeps a temporary one", "[attention][masks]") {
  const Rows even{"1.1.1", "1.1.1"};
  CHECK(seen(2, 5, heed::mask_mod(function_of_even_keys)) == even);
  CHECK(seen(2, 5, heed::mask_mod(&function_of_even_keys)) == even);
  const std::function<bool(Index, Index, Index, Index)> erased = function_of_even_keys;
  CHECK(seen(2, 5, heed::mask_mod(erased)) == even);

  auto owned = std::make_unique<Index>(2);
  const auto move_only = [owned = std::move(owned)](auto, auto, auto, auto j) { return j % *owned == 0; };
  CHECK(seen(2, 5, heed::mask_mod(move_only)) == even);

  const auto of_ints = [](int, int, unsigned, std::size_t j) { return j % 2 == 0; };
  CHECK(seen(2, 5, heed::mask_mod(of_ints)) == even);

  const auto kept = heed::mask_mod([table = std::vector<int>{1, 0, 1, 0, 1}](auto, auto, auto, auto j) {
    return table[static_cast<std::size_t>(j)];  // converts to bool
  });
  CHECK(seen(2, 5, kept) == even);
}
