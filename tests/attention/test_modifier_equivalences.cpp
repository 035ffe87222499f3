// What modifiers are in terms of each other, over random problems. A case follows from its seed alone.
#include "catch.hpp"
#include "support/random_attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using heed::Index;
using heed::Tensor;
using support::Inputs;
using support::near;
using support::Results;
using support::same_bits;
using support::Sizes;

namespace {

/// A random problem without modifiers, and attention to it with any.
template <class T>
struct Plain {
  Sizes n;
  Inputs<T> x;
  std::vector<Index> lengths;  // ℝ^{b}, of a call that asks for them

  explicit Plain(unsigned seed) {
    std::mt19937 rng(seed);
    n = support::random_sizes(rng);
    x = support::random_inputs<T>(n, rng);
    for (Index b = 0; b < n.b; ++b) lengths.push_back(static_cast<Index>(rng()) % (n.s + 1));
  }

  template <class... M>
  Results<T, 4> attend(const M&... modifiers) const {
    Results<T, 4> r{Tensor<T, 4>(n.b, n.h, n.t, n.e), Tensor<T, 3>(n.b, n.h, n.t), Tensor<T, 4>(n.b, n.h, n.t, n.s)};
    heed::scaled_dot_product_attention_into(r.out, x.q, x.k, x.v, modifiers..., heed::logsumexp(r.lse),
                                            heed::weights(r.weights));
    return r;
  }
  /// The position of a query aligned at the lower right.
  Index position(Index b, Index i) const { return i + lengths[static_cast<std::size_t>(b)] - n.t; }
};

/// check(plain, rng) for random problems.
template <class T, class Check>
void for_plain_problems(const Check& check) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const Plain<T> plain(seed);
    CAPTURE(seed, to_string(plain.n));
    std::mt19937 rng(seed + 1000);
    check(plain, rng);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a window without ends is none", "[attention][equivalences]", float, double) {
  using T = TestType;
  for_plain_problems<T>([](const Plain<T>& plain, std::mt19937&) {
    CHECK(same_bits(plain.attend(heed::sliding_window(heed::unbounded, heed::unbounded)), plain.attend()));
  });
}

TEMPLATE_TEST_CASE("a mask is a mask_mod, a bias of −inf and a score_mod to −inf, also before a soft cap",
                   "[attention][equivalences]", float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  for_plain_problems<T>([](const Plain<T>& plain, std::mt19937& rng) {
    const auto& n = plain.n;
    const auto cap = heed::soft_cap(2);
    const auto every_way = [&](const Tensor<bool, 4>& seen) {
      const auto bias =
          support::for_pairs<T>(n, [&](Index b, Index h, Index i, Index j) { return seen(b, h, i, j) ? T(0) : -inf; });
      const auto shows = [&](Index b, Index h, Index i, Index j) { return seen(b, h, i, j); };
      const auto hide = [&](T score, Index b, Index h, Index i, Index j) { return seen(b, h, i, j) ? score : -inf; };
      const auto expected = plain.attend(heed::mask(seen));
      CHECK(same_bits(plain.attend(heed::mask_mod(shows)), expected));
      CHECK(same_bits(plain.attend(heed::bias(bias)), expected));
      CHECK(same_bits(plain.attend(heed::score_mod(hide)), expected));
      const auto capped = plain.attend(cap, heed::mask(seen));
      CHECK(same_bits(plain.attend(cap, heed::mask_mod(shows)), capped));
      CHECK(same_bits(plain.attend(cap, heed::bias(bias)), capped));
      CHECK(same_bits(plain.attend(heed::bias(bias), cap), capped));
      CHECK(near(plain.attend(heed::score_mod(hide), cap), capped));
      return std::pair(expected, capped);
    };
    every_way(support::random<bool>(rng, n.b, n.h, n.t, n.s));
    const auto [upper_left, upper_left_capped] =
        every_way(support::for_pairs<bool>(n, [](Index, Index, Index i, Index j) { return j <= i; }));
    CHECK(same_bits(plain.attend(heed::causal()), upper_left));
    CHECK(same_bits(plain.attend(cap, heed::causal()), upper_left_capped));
    const auto [lower_right, lower_right_capped] =
        every_way(support::for_pairs<bool>(n, [&](Index b, Index, Index i, Index j) {
          return j < plain.lengths[static_cast<std::size_t>(b)] && j <= plain.position(b, i);
        }));
    const auto lengths = heed::key_lengths(plain.lengths);
    CHECK(same_bits(plain.attend(heed::causal_lower_right(), lengths), lower_right));
    CHECK(same_bits(plain.attend(cap, heed::causal_lower_right(), lengths), lower_right_capped));
  });
}

TEMPLATE_TEST_CASE("alibi is the score_mod of its formula and the bias of its values", "[attention][equivalences]",
                   float, double) {
  using T = TestType;
  for_plain_problems<T>([](const Plain<T>& plain, std::mt19937& rng) {
    std::vector<T> slopes;
    for (Index h = 0; h < plain.n.h; ++h) slopes.push_back(T(0.125) * static_cast<T>(rng() % 16) - T(0.75));
    const auto penalty = [&](Index b, Index h, Index i, Index j) {
      return slopes[static_cast<std::size_t>(h)] * static_cast<T>(std::abs(plain.position(b, i) - j));
    };
    const auto formula = [&](T score, Index b, Index h, Index i, Index j) { return score - penalty(b, h, i, j); };
    const auto values =
        support::for_pairs<T>(plain.n, [&](Index b, Index h, Index i, Index j) { return -penalty(b, h, i, j); });
    const auto attend = [&](const auto& modifier) {
      return plain.attend(heed::causal_lower_right(), heed::key_lengths(plain.lengths), modifier);
    };
    const auto expected = attend(heed::alibi(slopes));
    CHECK(near(attend(heed::score_mod(formula)), expected));
    CHECK(near(attend(heed::bias(values)), expected));
  });
}

TEMPLATE_TEST_CASE("score modifiers act one after the other in the order given", "[attention][equivalences]", float,
                   double) {
  using T = TestType;
  for_plain_problems<T>([](const Plain<T>& plain, std::mt19937& rng) {
    const auto& n = plain.n;
    const Tensor<T, 4> values = support::random<T>(rng, n.b, n.h, n.t, n.s);
    const auto bias = heed::bias(values);
    const auto cap = heed::soft_cap(1.5);
    const auto user = [](T score, Index, Index, Index i, Index j) { return score * T(i < j ? -0.5 : 2); };
    const auto twist = heed::score_mod(user);

    enum { biased, capped, twisted };
    std::vector<Results<T, 4>> all;
    const auto check = [&](const Results<T, 4>& results, const std::array<int, 3>& order) {
      const auto by_hand = [&](T score, Index b, Index h, Index i, Index j) {
        for (const int step : order) {
          if (step == biased) score += values(b, h, i, j);
          if (step == capped) score = T(1.5) * std::tanh(score / T(1.5));
          if (step == twisted) score = user(score, b, h, i, j);
        }
        return score;
      };
      CHECK(near(results, plain.attend(heed::score_mod(by_hand))));
      all.push_back(results);
    };
    check(plain.attend(bias, cap, twist), {biased, capped, twisted});
    check(plain.attend(bias, twist, cap), {biased, twisted, capped});
    check(plain.attend(cap, bias, twist), {capped, biased, twisted});
    check(plain.attend(cap, twist, bias), {capped, twisted, biased});
    check(plain.attend(twist, bias, cap), {twisted, biased, capped});
    check(plain.attend(twist, cap, bias), {twisted, capped, biased});
    if (all[0].lse.size() == 0 || n.s == 0) return;
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) CHECK(!near(all[a].lse, all[b].lse));
  });
}

TEMPLATE_TEST_CASE("a prob_mod changes the weights of what is seen, before dropout, and no log-sum-exp",
                   "[attention][equivalences]", float, double) {
  using T = TestType;
  for_plain_problems<T>([](const Plain<T>& plain, std::mt19937& rng) {
    const auto& n = plain.n;
    const auto seen = support::random<bool>(rng, n.b, n.h, n.t, n.s);
    const auto mask = heed::mask(seen);
    const heed::Philox philox{rng(), 3};
    const auto change = [](T weight, Index b, Index h, Index i, Index j) {
      return static_cast<T>(1 + (b + h + i + j) % 3) - weight;  // not 0 at 0
    };
    auto kept = plain.attend(mask), dropped = kept;
    kept.out.fill(0);
    dropped.out.fill(0);
    support::for_each_pair(n, [&](Index b, Index h, Index i, Index j) {
      T& weight = kept.weights(b, h, i, j);
      T& dropped_weight = dropped.weights(b, h, i, j);
      weight = seen(b, h, i, j) ? change(weight, b, h, i, j) : T(0);
      dropped_weight = philox.uniform(b, h, i, j) < 0.5 ? 2 * weight : T(0);
      for (Index c = 0; c < n.e; ++c) {
        kept.out(b, h, i, c) += weight * plain.x.v(b, h / (n.h / n.g), j, c);
        dropped.out(b, h, i, c) += dropped_weight * plain.x.v(b, h / (n.h / n.g), j, c);
      }
    });
    CHECK(near(plain.attend(mask, heed::prob_mod(change)), kept));
    CHECK(near(plain.attend(heed::dropout(0.5, philox), heed::prob_mod(change), mask), dropped));
  });
}

TEMPLATE_TEST_CASE("the order of masks, and of all other options but score modifiers, does not matter",
                   "[attention][equivalences]", float, double) {
  using T = TestType;
  for_plain_problems<T>([](const Plain<T>& plain, std::mt19937& rng) {
    const auto& n = plain.n;
    const auto seen = support::random<bool>(rng, n.b, 1, n.t, n.s);
    const auto values = support::random<T>(rng, n.h, n.t, n.s);
    std::vector<T> logits(static_cast<std::size_t>(n.h), T(0.5)), slopes(logits);
    const auto bias = heed::bias(values);
    const auto alibi = heed::alibi(slopes);
    const auto cap = heed::soft_cap(2);
    const auto scale = heed::scale(0.7);
    const auto mask = heed::mask(seen);
    const auto mask_mod = heed::mask_mod([](auto b, auto h, auto i, auto j) { return (b + h + i + j) % 4 != 0; });
    const auto causal = heed::causal_lower_right();
    const auto window = heed::sliding_window(9, 0);
    const auto lengths = heed::key_lengths(plain.lengths);
    const auto sinks = heed::sinks(logits);
    const auto prob_mod = heed::prob_mod([](T weight, auto...) { return weight / 2; });
    const auto dropout = heed::dropout(0.3, heed::Philox{1, 2});

    const auto expected =
        plain.attend(scale, bias, alibi, cap, mask, mask_mod, causal, window, lengths, sinks, prob_mod, dropout);
    CHECK(same_bits(
        plain.attend(dropout, prob_mod, sinks, lengths, window, causal, mask_mod, mask, bias, alibi, cap, scale),
        expected));
    CHECK(same_bits(
        plain.attend(window, bias, lengths, mask_mod, alibi, dropout, scale, causal, sinks, cap, mask, prob_mod),
        expected));
  });
}
