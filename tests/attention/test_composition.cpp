#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/composition.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

using heed::Generator;
using heed::Index;
using heed::Philox;
using heed::Shape;
using heed::Tensor;
using heed::TensorView;
using support::same_bits;
using support::Sizes;
namespace detail = heed::detail;
namespace modifiers = heed::modifiers;

namespace {

const detail::AttentionSizes problem{"f", 4, 2, 3, 1, 4, 5, 6};

template <class T, class... M>
detail::Composition<T, M...> compose(const M&... modifiers) {
  return detail::Composition<T, M...>(problem, modifiers...);
}

template <class A, class B>
constexpr bool exclude = detail::decide_the_same<A, B>;

}  // namespace

TEST_CASE("options that repeat or contradict each other exclude each other", "[attention][composition]") {
  using Lse = modifiers::Output<modifiers::Choice::logsumexp, float, 3>;
  STATIC_REQUIRE(exclude<modifiers::Scale, modifiers::Scale>);
  STATIC_REQUIRE(exclude<modifiers::Causal, modifiers::Causal>);
  STATIC_REQUIRE((exclude<modifiers::Causal, modifiers::CausalLowerRight>));
  STATIC_REQUIRE((exclude<modifiers::Dropout<Philox>, modifiers::Dropout<Generator&>>));
  STATIC_REQUIRE((exclude<modifiers::KeyLengths<int>, modifiers::KeyLengths<Index>>));
  STATIC_REQUIRE((exclude<Lse, Lse>));
  STATIC_REQUIRE(!(exclude<modifiers::Mask<2>, modifiers::Mask<2>>));
  STATIC_REQUIRE(!(exclude<modifiers::Bias<float, 2>, modifiers::Bias<float, 2>>));
  STATIC_REQUIRE(!(exclude<modifiers::Scale, modifiers::Causal>));
  STATIC_REQUIRE(!(exclude<modifiers::KeyLengths<int>, modifiers::Causal>));
}

TEMPLATE_TEST_CASE("a composition of nothing scales by 1/√d and shows every key", "[attention][composition]", float,
                   double) {
  using T = TestType;
  const auto plain = compose<T>();
  CHECK(plain.length(1) == 5);
  CHECK(plain.offset(1) == 0);
  CHECK(plain.score(T(3), {1, 2, 0, 4, 0}) == T(3) * static_cast<T>(1 / std::sqrt(6.0)));
  CHECK(plain.weight(T(0.25), {1, 2, 0, 4, 0}) == T(0.25));
  CHECK(plain.keep(T(0.25), {1, 2, 0, 4, 0}) == T(0.25));
  CHECK(plain.sees({1, 2, 0, 4, 0}));
  CHECK(plain.sink(2) == -std::numeric_limits<T>::infinity());
}

TEMPLATE_TEST_CASE("a score is scaled, then biased, and hidden by −inf alone", "[attention][composition]", float,
                   double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const heed::modifiers::Pair at{1, 2, 3, 4, 3};
  Tensor<T, 2> bias = support::filled(Shape<2>(4, 5), T(0.5));
  const auto both = compose<T>(heed::bias(bias), heed::scale(2), heed::bias(bias));
  CHECK(both.score(T(3), at) == 7);
  CHECK(std::isnan(both.score(nan, at)));
  bias(3, 4) = -inf;
  CHECK(both.score(T(3), at) == -inf);
  CHECK(both.score(nan, at) == -inf);
  CHECK(both.score(inf, at) == -inf);
}

TEMPLATE_TEST_CASE("−inf in one bias hides whatever another one adds", "[attention][composition]", float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Tensor<T, 2> hiding{{-inf}};
  for (const T other : {T(0), T(3e38), inf, -inf, std::numeric_limits<T>::quiet_NaN()}) {
    CAPTURE(other);
    const Tensor<T, 2> adding{{other}};
    CHECK(compose<T>(heed::bias(hiding), heed::bias(adding)).score(T(1), {0, 0, 0, 0, 0}) == -inf);
    CHECK(compose<T>(heed::bias(adding), heed::bias(hiding)).score(T(1), {0, 0, 0, 0, 0}) == -inf);
  }
}

TEST_CASE("masks by position become one range of keys", "[attention][composition]") {
  const auto keys = [](Index position, const auto&... m) {
    const modifiers::KeyRange range = [&] {
      const auto composition = compose<float>(m...);
      return composition.keys(composition.length(1), position);
    }();
    return range.end <= range.first ? std::pair<Index, Index>() : std::pair(range.first, range.end);
  };
  using Range = std::pair<Index, Index>;
  const std::vector<Index> lengths{5, 3};
  CHECK(keys(3) == Range(0, 5));
  CHECK(keys(3, heed::causal()) == Range(0, 4));
  CHECK(keys(3, heed::causal(), heed::key_lengths(lengths)) == Range(0, 3));
  CHECK(keys(3, heed::sliding_window(1, 0), heed::causal()) == Range(2, 4));
  CHECK(keys(-1, heed::causal()) == Range());

  const Index most = heed::unbounded;
  for (const Index position : {Index{-4}, Index{-1}, Index{0}, Index{3}, Index{100}}) {
    CHECK(keys(position, heed::sliding_window(most, most)) == Range(0, 5));
    CHECK(keys(position, heed::sliding_window(most - 1, most - 1)) == Range(0, 5));
    CHECK(keys(position, heed::sliding_window(most - 100, most - 100)) == Range(0, 5));
  }
  CHECK(keys(-4, heed::sliding_window(0, 5)) == Range(0, 2));
  CHECK(keys(100, heed::sliding_window(97, 0)) == Range(3, 5));
}

TEST_CASE("masks of pairs intersect", "[attention][composition]") {
  const Tensor<bool, 2> mask{{true, false, true, true, true}};
  const auto both = compose<float>(heed::mask(mask), heed::mask_mod([](auto, auto, auto i, auto j) { return i < j; }));
  CHECK(both.sees({0, 0, 1, 2, 1}));
  CHECK_FALSE(both.sees({0, 0, 0, 1, 0}));
  CHECK_FALSE(both.sees({0, 0, 3, 3, 3}));
}

TEST_CASE("the lower-right offset counts the keys that a batch has", "[attention][composition]") {
  const std::vector<Index> lengths{5, 2};
  const auto lower_right = compose<float>(heed::causal_lower_right(), heed::key_lengths(lengths));
  CHECK(lower_right.length(0) == 5);
  CHECK(lower_right.length(1) == 2);
  CHECK(lower_right.offset(0) == 1);
  CHECK(lower_right.offset(1) == -2);
  CHECK(compose<float>(heed::key_lengths(lengths), heed::causal_lower_right()).offset(1) == -2);
  CHECK(compose<float>(heed::key_lengths(lengths), heed::causal()).offset(1) == 0);
  CHECK(compose<float>(heed::causal_lower_right()).offset(1) == 1);
}

TEMPLATE_TEST_CASE("options may come in any order", "[attention][composition]", float, double) {
  using T = TestType;
  const Sizes n{2, 4, 2, 5, 7, 3, 3};
  const auto x = support::random_inputs<T>(n);
  std::mt19937 rng(2);
  const auto mask = support::random<bool>(rng, 5, 7);
  const auto bias = support::random<T>(rng, 4, 1, 7);
  const std::vector<Index> lengths{7, 4};
  const auto attend = [&](const auto&... options) {
    return heed::scaled_dot_product_attention(x.q, x.k, x.v, options...);
  };
  const auto scale = heed::scale(0.3);
  const auto causal = heed::causal_lower_right();
  const auto dropout = heed::dropout(0.3, Philox{1, 2});
  Tensor<T, 3> lse(2, 4, 5), other_lse(2, 4, 5);
  const auto out = attend(scale, causal, heed::mask(mask), heed::bias(bias), heed::key_lengths(lengths), dropout,
                          heed::logsumexp(lse));
  CHECK(same_bits(out, attend(heed::logsumexp(other_lse), dropout, heed::key_lengths(lengths), heed::bias(bias),
                              heed::mask(mask), causal, scale)));
  CHECK(same_bits(lse, other_lse));
  CHECK(same_bits(out, attend(heed::bias(bias), heed::logsumexp(other_lse), scale, heed::mask(mask), dropout, causal,
                              heed::key_lengths(lengths))));
  CHECK(same_bits(lse, other_lse));
  CHECK(!same_bits(out, attend(scale, causal, heed::mask(mask), heed::bias(bias), heed::key_lengths(lengths))));
}

TEMPLATE_TEST_CASE("several masks intersect", "[attention][composition]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 2, 2, 5, 9, 3, 3});
  std::mt19937 rng(3);
  const auto a = support::random<bool>(rng, 5, 9);
  const auto b = support::random<bool>(rng, 2, 1, 1, 9);
  const auto c = support::random<bool>(rng, 2, 5, 1);
  Tensor<bool, 4> all(2, 2, 5, 9);
  for (Index n = 0; n < all.size(); ++n) {
    const Index j = n % 9, i = n / 9 % 5, h = n / 45 % 2;
    all.data()[n] = a(i, j) && b(n / 90, 0, 0, j) && c(h, i, 0);
  }
  const auto one = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask(all));
  CHECK(same_bits(one, heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask(a), heed::mask(b), heed::mask(c))));
  CHECK(same_bits(one, heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask(c), heed::mask(a), heed::mask(b))));
}

TEMPLATE_TEST_CASE("several biases add up in the order given", "[attention][composition]", float, double) {
  using T = TestType;
  const Tensor<T, 2> x{{1}}, large{{T(0x1p60)}}, small{{T(-0x1p60)}}, one{{1}};
  Tensor<T, 1> lse(1);
  const auto score_of = [&](const auto&... biases) {
    heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(lse), biases...);
    return lse(0);
  };
  CHECK(score_of(heed::bias(large), heed::bias(small), heed::bias(one)) == 1);  // the score of 1 is lost in 2^60
  CHECK(score_of(heed::bias(one), heed::bias(large), heed::bias(small)) == 0);
}

TEMPLATE_TEST_CASE("any composition at hostile sizes agrees with the loops", "[attention][composition]", float,
                   double) {
  using T = TestType;
  std::mt19937 rng(4);
  const Index heads[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 2}, {2, 3, 1}, {1, 6, 2}, {3, 4, 4}, {2, 4, 2}};
  std::size_t round = 0;
  for (const Index t : support::hostile_sizes)
    for (const Index s : support::hostile_sizes)
      for (const Index d : support::hostile_sizes) {
        const auto& [b, h, g] = heads[round++ % std::size(heads)];
        const Index e = support::hostile_sizes[rng() % std::size(support::hostile_sizes)];
        const Sizes n{b, h, g, t, s, d, e};
        INFO(to_string(n));
        const auto x = support::random_inputs<T>(n, rng);
        const auto options = support::random_options<T>(n, rng);
        const auto truth = support::plain_attention<long double>(x, options);
        Tensor<T, 3> lse(b, h, t), weights_lse(b, h, t);
        const auto out = support::with_modifiers(options, TensorView<T, 3>(lse), [&](const auto&... m) {
          return heed::scaled_dot_product_attention(x.q, x.k, x.v, m...);
        });
        const auto weights = support::with_modifiers(options, TensorView<T, 3>(weights_lse), [&](const auto&... m) {
          return heed::attention_weights(x.q, x.k, m...);
        });
        CHECK(support::worst(out, truth.out, truth.out_bound) <= 1);
        CHECK(support::worst(lse, truth.lse, truth.lse_bound) <= 1);
        CHECK(support::worst(weights, truth.weights, truth.weight_bound) <= 1);
        CHECK(support::worst(weights_lse, truth.lse, truth.lse_bound) <= 1);
      }
}

TEST_CASE("a scale that overflows the scalar type is refused", "[attention][composition]") {
  const heed::detail::AttentionSizes sizes{"heed::f", 2, 1, 1, 1, 2, 2, 3};
  using Scaled = heed::detail::Composition<float, heed::modifiers::Scale>;
  CHECK_THROWS_AS(Scaled(sizes, heed::scale(1e300)), std::invalid_argument);
  CHECK_NOTHROW(Scaled(sizes, heed::scale(1e38)));
  CHECK_NOTHROW(heed::detail::Composition<double, heed::modifiers::Scale>(sizes, heed::scale(1e300)));
}
