// What is hidden cannot leak, be it NaN, infinite or huge; what is seen shows.
#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using heed::Index;
using heed::Shape;
using heed::Tensor;
using support::bits;
using support::same_bits;
using support::Sizes;

namespace {

template <class T>
std::vector<T> poisons() {
  using Limits = std::numeric_limits<T>;
  return {Limits::quiet_NaN(), Limits::infinity(),  -Limits::infinity(), T(3e38), T(-3e38),
          Limits::max(),       Limits::denorm_min()};
}

bool all_nan(const auto& row) {
  bool all = true;
  for (Index n = 0; n < row.size(); ++n) all = all && std::isnan(row[n]);
  return all;
}

/// One head whose hidden pairs a test chooses, hidden in every way that heed has.
template <class T>
struct Head {
  Tensor<T, 2> q, k, v;
  Tensor<bool, 2> mask;
  Tensor<T, 2> bias;

  Head(const Sizes& n, unsigned seed) : mask(support::filled(Shape<2>(n.t, n.s), true)), bias(n.t, n.s) {
    const auto x = support::random_inputs<T>(n, seed);
    q = heed::copy(x.q[0][0]);
    k = heed::copy(x.k[0][0]);
    v = heed::copy(x.v[0][0]);
  }
  void hide(Index i, Index j) {
    mask(i, j) = false;
    bias(i, j) = -std::numeric_limits<T>::infinity();
  }
};

/// Output, log-sum-exp and weights of a call.
template <class T>
struct Results {
  Tensor<T, 2> out, weights;
  Tensor<T, 1> lse;
};

template <class T, class... M>
Results<T> attend(const Head<T>& x, const M&... modifiers) {
  Results<T> r{{}, heed::attention_weights(x.q, x.k, modifiers...), Tensor<T, 1>(x.q.shape()[0])};
  r.out = heed::scaled_dot_product_attention(x.q, x.k, x.v, modifiers..., heed::logsumexp(r.lse));
  return r;
}

template <class T>
bool row_is(const Results<T>& a, const Results<T>& b, Index i) {
  return same_bits(a.out[i], b.out[i]) && same_bits(a.weights[i], b.weights[i]) && bits(a.lse(i)) == bits(b.lse(i));
}

}  // namespace

TEMPLATE_TEST_CASE("nothing leaks from a key that no query sees, at any position", "[attention][hidden]", float,
                   double) {
  using T = TestType;
  const Index t = 3, d = 3, e = 5;
  for (const Index s : {2, 7, 17, 33})
    for (Index hidden = 0; hidden < s; ++hidden) {
      CAPTURE(s, hidden);
      Head<T> clean({1, 1, 1, t, s, d, e}, 1);
      for (Index i = 0; i < t; ++i) clean.hide(i, hidden);
      const auto expected = attend(clean, heed::mask(clean.mask));
      for (Index i = 0; i < t; ++i) CHECK(bits(expected.weights(i, hidden)) == 0);
      for (const T poison : poisons<T>()) {
        CAPTURE(poison);
        Head<T> x = clean;
        x.k(hidden, hidden % d) = poison;
        x.v(hidden, hidden % e) = poison;
        const auto check = [&](const auto&... modifiers) {
          const auto results = attend(x, modifiers...);
          for (Index i = 0; i < t; ++i) CHECK(row_is(results, expected, i));
        };
        check(heed::mask(x.mask));
        check(heed::bias(x.bias));
        if (hidden == s - 1) check(heed::key_lengths({s - 1}));
        x.bias.fill(0);  // NaN in a bias where a mask hides the pair
        for (Index i = 0; i < t; ++i) x.bias(i, hidden) = poison;
        check(heed::mask(x.mask), heed::bias(x.bias));
        check(heed::bias(x.bias), heed::bias(clean.bias));
      }
    }
}

TEMPLATE_TEST_CASE("a poisoned key shows in the rows that see it and in no other", "[attention][hidden]", float,
                   double) {
  using T = TestType;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const Index t = 7, s = 17, d = 3, e = 4;
  const Head<T> clean({1, 1, 1, t, s, d, e}, 2);
  const auto check = [&](const auto& sees, const auto&... modifiers) {
    const auto expected = attend(clean, modifiers...);
    for (Index j = 0; j < s; ++j) {
      Head<T> bad_key = clean, bad_value = clean;
      bad_key.k(j, j % d) = nan;
      bad_value.v(j, j % e) = nan;
      const auto with_key = attend(bad_key, modifiers...), with_value = attend(bad_value, modifiers...);
      for (Index i = 0; i < t; ++i) {
        CAPTURE(i, j);
        for (Index other = 0; other < s; ++other)  // exactly 0 in a row of NaN too
          if (!sees(i, other)) CHECK(bits(with_key.weights(i, other)) == 0);
        CHECK(same_bits(with_value.weights[i], expected.weights[i]));
        if (!sees(i, j)) {
          CHECK(row_is(with_key, expected, i));
          CHECK(row_is(with_value, expected, i));
          continue;
        }
        CHECK(std::isnan(with_key.weights(i, j)));
        CHECK(std::isnan(with_key.lse(i)));
        CHECK(all_nan(with_key.out[i]));
        for (Index c = 0; c < e; ++c) {
          if (c == j % e) {
            CHECK(std::isnan(with_value.out(i, c)));
          } else {
            CHECK(bits(with_value.out(i, c)) == bits(expected.out(i, c)));
          }
        }
      }
    }
  };
  std::mt19937 rng(3);
  const auto mask = support::random<bool>(rng, t, s);
  Tensor<T, 2> bias(t, s);
  for (Index n = 0; n < bias.size(); ++n)
    if (!mask.data()[n]) bias.data()[n] = -std::numeric_limits<T>::infinity();
  const auto masked = [&](Index i, Index j) { return mask(i, j); };
  check([](Index, Index) { return true; });
  check(masked, heed::mask(mask));
  check(masked, heed::bias(bias));
  check([](Index i, Index j) { return j <= i; }, heed::causal());
  check([](Index i, Index j) { return j <= i + 10; }, heed::causal_lower_right());
  check([](Index, Index j) { return j < 5; }, heed::key_lengths({5}));
  check([](Index i, Index j) { return j < 9 && j <= i + 2; }, heed::key_lengths({9}), heed::causal_lower_right());
  check([&](Index i, Index j) { return j < 12 && j <= i && mask(i, j); }, heed::key_lengths({12}), heed::causal(),
        heed::mask(mask));
}

TEMPLATE_TEST_CASE("a poisoned query shows in its row alone, and not at all where it sees no key",
                   "[attention][hidden]", float, double) {
  using T = TestType;
  const Index t = 7, s = 5;
  for (Index i = 0; i < t; ++i) {
    CAPTURE(i);
    Head<T> clean({1, 1, 1, t, s, 3, 4}, 4);
    const auto expected = attend(clean);
    Head<T> x = clean;
    x.q(i, i % 3) = std::numeric_limits<T>::quiet_NaN();
    const auto results = attend(x);
    for (Index other = 0; other < t; ++other) {
      if (other == i) {
        CHECK(all_nan(results.out[other]));
      } else {
        CHECK(row_is(results, expected, other));
      }
    }
    for (Index j = 0; j < s; ++j) x.hide(i, j);
    for (const T poison : poisons<T>()) {
      CAPTURE(poison);
      x.q(i, i % 3) = poison;
      for (const auto& hidden : {attend(x, heed::mask(x.mask)), attend(x, heed::bias(x.bias))}) {
        for (Index c = 0; c < 4; ++c) CHECK(bits(hidden.out(i, c)) == 0);
        for (Index j = 0; j < s; ++j) CHECK(bits(hidden.weights(i, j)) == 0);
        CHECK(hidden.lse(i) == -std::numeric_limits<T>::infinity());
        for (Index other = 0; other < t; ++other)
          if (other != i) CHECK(row_is(hidden, expected, other));
      }
    }
  }
}

TEMPLATE_TEST_CASE("NaN in a bias shows where its pair is seen", "[attention][hidden]", float, double) {
  using T = TestType;
  Head<T> x({1, 1, 1, 3, 5, 2, 2}, 5);
  const auto expected = attend(x, heed::causal());
  x.bias(1, 0) = std::numeric_limits<T>::quiet_NaN();
  x.bias(0, 1) = std::numeric_limits<T>::quiet_NaN();  // hidden by causal
  const auto results = attend(x, heed::bias(x.bias), heed::causal());
  CHECK(row_is(results, expected, 0));
  CHECK(all_nan(results.out[1]));
  CHECK(row_is(results, expected, 2));
}

TEMPLATE_TEST_CASE("a row of −inf, however it comes about, is a row that sees no key", "[attention][hidden]", float,
                   double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Sizes n{2, 2, 2, 3, 17, 2, 3};
  const auto x = support::random_inputs<T>(n);
  const Tensor<bool, 2> none(1, 1);
  const Tensor<T, 2> hiding{{-inf}};
  Tensor<bool, 2> even(1, 17), odd(1, 17);
  for (Index j = 0; j < 17; ++j) (j % 2 == 0 ? even : odd)(0, j) = true;
  Tensor<T, 3> lse(2, 2, 3);
  const auto check = [&](const auto&... modifiers) {
    lse.fill(7);
    const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::logsumexp(lse), modifiers...);
    CHECK(same_bits(out, Tensor<T, 4>(out.shape())));
    CHECK(same_bits(lse, support::filled(lse.shape(), -inf)));
    const auto weights = heed::attention_weights(x.q, x.k, modifiers...);
    CHECK(same_bits(weights, Tensor<T, 4>(weights.shape())));
  };
  check(heed::mask(none));
  check(heed::bias(hiding));
  check(heed::key_lengths({0, 0}));
  check(heed::mask(even), heed::mask(odd));
  check(heed::mask(none), heed::dropout(0.5, heed::Philox{}));
}

TEMPLATE_TEST_CASE("hidden values of any size do not show in the output of other batches and heads",
                   "[attention][hidden]", float, double) {
  using T = TestType;
  const auto clean = support::random_inputs<T>({2, 4, 2, 3, 5, 2, 3});
  const auto expected = heed::scaled_dot_product_attention(clean.q, clean.k, clean.v, heed::key_lengths({5, 3}));
  support::Inputs<T> x = clean;
  for (Index g = 0; g < 2; ++g)
    for (Index j = 3; j < 5; ++j) {
      x.k(1, g, j, 0) = std::numeric_limits<T>::quiet_NaN();
      x.v(1, g, j, 0) = std::numeric_limits<T>::infinity();
    }
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths({5, 3})), expected));
  x.k(0, 1, 0, 0) = std::numeric_limits<T>::quiet_NaN();  // seen, by query heads 2 and 3 of batch 0
  const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::key_lengths({5, 3}));
  CHECK(same_bits(out[1], expected[1]));
  for (Index h = 0; h < 4; ++h)
    for (Index i = 0; i < 3; ++i) {
      if (h < 2) {
        CHECK(same_bits(out[0][h][i], expected[0][h][i]));
      } else {
        CHECK(all_nan(out[0][h][i]));
      }
    }
}
