// Faults that people met in other libraries, with the right answers: see each test. z means q = k = 0, so that a row is
// the plain mean of the values that it sees.
#include "catch.hpp"
#include "support/tensors.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <cmath>
#include <limits>
#include <vector>

using heed::Index;
using heed::Tensor;
using support::bits;

namespace {

/// Values 1, 2, 3 … as a column.
template <class T>
Tensor<T, 2> column(Index count) {
  return core_tests::numbered<T>(count, Index{1});
}

/// Whether all elements are near the expected ones, within a unit of the last digit given.
template <class T, int R>
bool near(const Tensor<T, R>& actual, const std::vector<double>& expected, double unit = 1e-6) {
  bool near = static_cast<std::size_t>(actual.size()) == expected.size();
  for (std::size_t n = 0; near && n < expected.size(); ++n)
    near = std::abs(static_cast<double>(actual.data()[n]) - expected[n]) <= unit;
  return near;
}

/// z attention over the values 1, 2, 3 … s.
template <class T, class... M>
Tensor<T, 2> means(Index t, Index s, const M&... modifiers) {
  return heed::scaled_dot_product_attention(Tensor<T, 2>(t, 1), Tensor<T, 2>(s, 1), column<T>(s), modifiers...);
}

}  // namespace

TEMPLATE_TEST_CASE("a row that may see no key is zero", "[attention][cases]", float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Tensor<T, 2> q{{1, 0}, {0, 1}};
  const Tensor<T, 2> v{{1, 2}, {3, 4}};
  const Tensor<bool, 2> seen{{false, false}, {true, true}};
  const Tensor<T, 2> hiding{{-inf, -inf}, {0, 0}};
  const Tensor<T, 2> low{{T(-1e9), T(-1e9)}, {0, 0}};
  Tensor<T, 1> lse(2);

  const auto check_empty_row = [&](const Tensor<T, 2>& out) {
    CHECK(bits(out(0, 0)) == 0);
    CHECK(bits(out(0, 1)) == 0);
    CHECK(lse(0) == -inf);
    CHECK(std::abs(static_cast<double>(out(1, 0)) - 2.339523) < 1e-6);
    CHECK(std::abs(static_cast<double>(out(1, 1)) - 3.339523) < 1e-6);
    CHECK(std::isfinite(lse(1)));
  };
  check_empty_row(heed::scaled_dot_product_attention(q, q, v, heed::mask(seen), heed::logsumexp(lse)));
  lse.fill(0);
  check_empty_row(heed::scaled_dot_product_attention(q, q, v, heed::bias(hiding), heed::logsumexp(lse)));

  // A bias of −1e9 is data, not a mask: the row sees both keys alike. In float √2/2 is lost beside it, in double it is
  // not.
  const Tensor<T, 2> mean =
      heed::scaled_dot_product_attention(Tensor<T, 2>(2, 2), q, v, heed::bias(low), heed::logsumexp(lse));
  CHECK(near(mean, {2, 3, 2, 3}));
  CHECK(lse(0) == static_cast<T>(std::log(2.0) - 1e9));
  const Tensor<T, 2> data = heed::scaled_dot_product_attention(q, q, v, heed::bias(low));
  if (sizeof(T) == sizeof(float)) {
    CHECK(near(data, {2, 3, 2.339523, 3.339523}));
  } else {
    CHECK(near(data, {1.660477, 2.660477, 2.339523, 3.339523}));
  }
}

TEMPLATE_TEST_CASE("a masked weight is exactly zero, in full packets and tails", "[attention][cases]", float, double) {
  using T = TestType;
  const Tensor<T, 2> q{{1}};
  for (const Index n : {4, 5, 8, 9, 16, 17, 33}) {
    CAPTURE(n);
    const Tensor<T, 2> k(n, 1);
    Tensor<T, 2> v = support::filled(heed::Shape<2>(n, 1), T(3e38));
    v(0, 0) = 1;
    Tensor<bool, 2> first(1, n);
    first(0, 0) = true;
    Tensor<T, 2> hiding = support::filled(heed::Shape<2>(1, n), -std::numeric_limits<T>::infinity());
    hiding(0, 0) = 0;

    const auto check = [&](const auto&... modifiers) {
      const auto weights = heed::attention_weights(q, k, modifiers...);
      CHECK(weights(0, 0) == 1);
      for (Index j = 1; j < n; ++j) CHECK(bits(weights(0, j)) == 0);
      CHECK(heed::scaled_dot_product_attention(q, k, v, modifiers...)(0, 0) == 1);
    };
    check(heed::mask(first));
    check(heed::bias(hiding));
    check(heed::causal());
    check(heed::key_lengths({1}));
    check(heed::mask(first), heed::causal(), heed::bias(hiding), heed::key_lengths({1}));
  }
}

TEMPLATE_TEST_CASE("true in a mask takes part", "[attention][cases]", float, double) {
  using T = TestType;
  const Tensor<T, 2> z(3, 1);
  const Tensor<T, 2> v{{1}, {2}, {4}};
  const Tensor<bool, 2> lower{{true, false, false}, {true, true, false}, {true, true, true}};
  const Tensor<bool, 2> upper{{false, true, true}, {false, false, true}, {false, false, false}};
  CHECK(near(heed::scaled_dot_product_attention(z, z, v, heed::mask(lower)), {1, 1.5, 2.3333333}));
  CHECK(near(heed::scaled_dot_product_attention(z, z, v, heed::mask(upper)), {3, 4, 0}));
}

TEMPLATE_TEST_CASE("causal masks stand upper-left or lower-right", "[attention][cases]", float, double) {
  using T = TestType;
  CHECK(near(means<T>(4, 4, heed::causal()), {1, 1.5, 2, 2.5}));
  CHECK(near(means<T>(4, 4, heed::causal_lower_right()), {1, 1.5, 2, 2.5}));
  CHECK(near(means<T>(2, 5, heed::causal_lower_right()), {2.5, 3}));
  CHECK(near(means<T>(2, 5, heed::causal()), {1, 1.5}));
  CHECK(near(means<T>(1, 5, heed::causal_lower_right()), {3}));
  CHECK(near(means<T>(1, 5, heed::causal()), {1}));
  CHECK(near(means<T>(5, 2, heed::causal_lower_right()), {0, 0, 0, 1, 1.5}));
  CHECK(near(means<T>(5, 2, heed::causal()), {1, 1.5, 1.5, 1.5, 1.5}));
}

TEMPLATE_TEST_CASE("query head i reads key head i / (h/g)", "[attention][cases]", float, double) {
  using T = TestType;
  const Tensor<T, 3> v{{{10}}, {{20}}};
  const auto out = heed::scaled_dot_product_attention(Tensor<T, 3>(4, 1, 1), Tensor<T, 3>(2, 1, 1), v);
  CHECK(near(out, {10, 10, 20, 20}, 0));
  const std::string message = core_tests::shape_error(
      [&] { heed::scaled_dot_product_attention(Tensor<T, 3>(3, 1, 1), Tensor<T, 3>(2, 1, 1), v); });
  CHECK(message ==
        "heed::scaled_dot_product_attention: q is ℝ^{3×1×1} and k is ℝ^{2×1×1}, but the 3 query heads are not a "
        "multiple of the 2 "
        "key heads");
}
