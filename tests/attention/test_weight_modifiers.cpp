#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using core_tests::shape_error;
using core_tests::value_error;
using heed::Generator;
using heed::Index;
using heed::Philox;
using heed::Tensor;
using support::bits;
using support::same_bits;

namespace {

/// The weights ℝ^{b×h×t×s} of a problem where every second pair is hidden, with and without dropout.
template <class T>
struct Problem {
  support::Inputs<T> x = support::random_inputs<T>({2, 4, 2, 3, 7, 3, 7});
  Tensor<bool, 2> mask = Tensor<bool, 2>(3, 7);

  Problem() {
    for (Index n = 0; n < mask.size(); ++n) mask.data()[n] = n % 2 == 0;
  }
  Tensor<T, 4> weights() const { return heed::attention_weights(x.q, x.k, heed::mask(mask)); }
  template <class Source>
  Tensor<T, 4> weights(double p, Source& source) const {
    return heed::attention_weights(x.q, x.k, heed::mask(mask), heed::dropout(p, source));
  }
  template <class Source>
  Tensor<T, 4> out(double p, Source& source) const {
    return heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask(mask), heed::dropout(p, source));
  }
};

/// Whether two generators will draw the same.
bool same_state(Generator a, Generator b) {
  bool same = true;
  for (int n = 0; n < 700; ++n) same = same && a.random() == b.random();
  return same;
}

}  // namespace

TEST_CASE("a dropout probability lies in [0, 1]", "[attention][modifiers]") {
  Generator rng(1);
  const Generator before = rng;
  const double bad[] = {-0.1,
                        1.1,
                        -std::numeric_limits<double>::denorm_min(),
                        std::nextafter(1.0, 2.0),
                        std::nan(""),
                        std::numeric_limits<double>::infinity()};
  for (const double p : bad) {
    CAPTURE(p);
    const std::string start = "heed::dropout: the probability must lie in [0, 1], got ";
    CHECK(value_error([&] { heed::dropout(p, Philox{}); }).find(start) == 0);
    CHECK(value_error([&] { heed::dropout(p, rng); }).find(start) == 0);
  }
  CHECK(same_state(rng, before));
}

TEMPLATE_TEST_CASE("dropout of nothing changes nothing, dropout of all leaves zeros, and neither draws",
                   "[attention][modifiers]", float, double) {
  using T = TestType;
  const Problem<T> problem;
  Generator rng(1);
  const Generator before = rng;
  const Philox philox{1, 2};
  CHECK(same_bits(problem.weights(0, philox), problem.weights()));
  CHECK(same_bits(problem.weights(0, rng), problem.weights()));
  const Tensor<T, 4> zero_weights(2, 4, 3, 7);
  CHECK(same_bits(problem.weights(1, philox), zero_weights));
  CHECK(same_bits(problem.weights(1, rng), zero_weights));
  const auto out = problem.out(1, philox);
  for (Index n = 0; n < out.size(); ++n) CHECK(out.data()[n] == 0);
  CHECK(same_state(rng, before));
}

TEMPLATE_TEST_CASE("survivors of a Philox are scaled by 1/(1 − p), the draws are those of the coordinates",
                   "[attention][modifiers]", float, double) {
  using T = TestType;
  const Problem<T> problem;
  const Philox philox{7, 9};
  const auto plain = problem.weights();
  for (const double p : {0.1, 0.5, 0.9}) {
    CAPTURE(p);
    const auto dropped = problem.weights(p, philox);
    int survivors = 0;
    for (Index b = 0; b < 2; ++b)
      for (Index h = 0; h < 4; ++h)
        for (Index i = 0; i < 3; ++i)
          for (Index j = 0; j < 7; ++j) {
            const bool survives = philox.uniform(b, h, i, j) < 1 - p;
            const T expected = survives ? plain(b, h, i, j) * (T(1) / static_cast<T>(1 - p)) : T(0);
            CHECK(bits(dropped(b, h, i, j)) == bits(expected));
            survivors += survives ? 1 : 0;
          }
    CHECK(std::abs(survivors - 168 * (1 - p)) < 4 * std::sqrt(168 * p * (1 - p)));  // 4 standard deviations
  }
}

TEMPLATE_TEST_CASE("a Philox drops the same whatever else is computed", "[attention][modifiers]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 1, 1, 8, 40, 2, 2});
  const auto kept = [](const auto& weights) {
    Tensor<bool, 4> result(weights.shape());
    for (Index n = 0; n < weights.size(); ++n) result.data()[n] = weights.data()[n] != 0;
    return result;
  };
  const Philox philox{3, 4};
  const auto all = kept(heed::attention_weights(x.q, x.k, heed::dropout(0.5, philox)));
  const auto few =
      kept(heed::attention_weights(heed::slice(x.q, 2, 0, 5), heed::slice(x.k, 2, 0, 33), heed::dropout(0.5, philox)));
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 33; ++j) CHECK(few(0, 0, i, j) == all(0, 0, i, j));
  const auto differs = [&](const Philox& other) {
    const auto theirs = kept(heed::attention_weights(x.q, x.k, heed::dropout(0.5, other)));
    return !std::equal(all.data(), all.data() + all.size(), theirs.data());
  };
  CHECK(!differs(Philox{3, 4}));
  CHECK(differs(Philox{4, 4}));
  CHECK(differs(Philox{3, 5}));
}

TEMPLATE_TEST_CASE("dropout takes a Philox by value", "[attention][modifiers]", float, double) {
  using T = TestType;
  const Problem<T> problem;
  Philox philox{1, 2};
  const auto dropout = heed::dropout(0.5, philox);
  philox.offset = 3;
  const auto weights = heed::attention_weights(problem.x.q, problem.x.k, heed::mask(problem.mask), dropout);
  const Philox original{1, 2};
  CHECK(same_bits(weights, problem.weights(0.5, original)));
  CHECK(!same_bits(weights, problem.weights(0.5, philox)));
  CHECK(philox.offset == 3);  // and no call advances it
}

TEMPLATE_TEST_CASE("a Generator draws a double for every pair in row-major order, hidden ones too",
                   "[attention][modifiers]", float, double) {
  using T = TestType;
  const Problem<T> problem;
  const auto plain = problem.weights();
  for (const double p : {0.1, 0.5, 0.9}) {
    CAPTURE(p);
    Generator rng(123), mine(123);
    const auto dropped = problem.weights(p, rng);
    for (Index n = 0; n < plain.size(); ++n) {
      const T expected = mine.uniform<double>() < 1 - p ? plain.data()[n] * (T(1) / static_cast<T>(1 - p)) : T(0);
      CHECK(bits(dropped.data()[n]) == bits(expected));
    }
    CHECK(same_state(rng, mine));
  }
}

TEMPLATE_TEST_CASE("a Generator drops what PyTorch's table drops", "[attention][modifiers]", float, double) {
  using T = TestType;
  // torch.manual_seed(123); torch.nn.Dropout(0.5)(torch.ones(6, 6))
  const int table[6][6] = {{2, 2, 0, 2, 2, 0}, {0, 0, 0, 2, 0, 2}, {2, 2, 2, 2, 0, 2},
                           {0, 2, 2, 0, 0, 2}, {0, 2, 0, 2, 0, 2}, {0, 2, 2, 2, 2, 0}};
  Generator rng(123), causal_rng(123), short_rng(123);
  const Tensor<T, 2> z(6, 1);
  const auto all = heed::attention_weights(z, z, heed::dropout(0.5, rng));
  const auto causal = heed::attention_weights(z, z, heed::dropout(0.5, causal_rng), heed::causal());
  const auto cut = heed::attention_weights(z, z, heed::dropout(0.5, short_rng), heed::key_lengths({4}));
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) {
      const T kept = static_cast<T>(table[i][j]);
      CHECK(all(i, j) == kept * (T(1) / T(6)));
      CHECK(causal(i, j) == (j <= i ? kept * (T(1) / static_cast<T>(i + 1)) : T(0)));
      CHECK(cut(i, j) == (j < 4 ? kept * T(0.25) : T(0)));
    }
}

TEMPLATE_TEST_CASE("output and weights drop alike", "[attention][modifiers]", float, double) {
  using T = TestType;
  Problem<T> problem;
  problem.x.v.fill(0);  // the identity for each key head
  for (Index b = 0; b < 2; ++b)
    for (Index g = 0; g < 2; ++g)
      for (Index j = 0; j < 7; ++j) problem.x.v(b, g, j, j) = 1;
  const Philox philox{5, 6};
  CHECK(support::almost_same(problem.out(0.5, philox), problem.weights(0.5, philox)));
  Generator a(5), b(5);
  CHECK(same_bits(problem.out(0.5, a), problem.weights(0.5, b)));
  CHECK(same_state(a, b));
}

TEMPLATE_TEST_CASE("NaN in a value shows though its weight was dropped, as in PyTorch", "[attention][modifiers]", float,
                   double) {
  using T = TestType;
  const Tensor<T, 2> z(1, 1);
  const Tensor<T, 2> v{{std::numeric_limits<T>::quiet_NaN()}};
  CHECK(std::isnan(heed::scaled_dot_product_attention(z, z, v, heed::dropout(1, Philox{}))(0, 0)));
}

TEMPLATE_TEST_CASE("a sink takes its share of the weights and counts in the log-sum-exp",
                   "[attention][weight_modifiers]", float, double) {
  using T = TestType;
  const Tensor<T, 3> q(2, 1, 1), k(2, 3, 1), v{{{1}, {2}, {6}}, {{1}, {2}, {6}}};
  Tensor<T, 2> lse(2, 1);
  // Scores 0, 0, 0 and a sink of 0 and of log 5: weights 1/4 and 1/8 each.
  const std::vector<T> logits{0, std::log(T(5))};
  const auto out = heed::scaled_dot_product_attention(q, k, v, heed::sinks(logits), heed::logsumexp(lse));
  const T close = 8 * std::numeric_limits<T>::epsilon();
  CHECK(std::abs(out(0, 0, 0) - T(9) / 4) < 9 * close);
  CHECK(std::abs(out(1, 0, 0) - T(9) / 8) < 9 * close);
  CHECK(std::abs(lse(0, 0) - std::log(T(4))) < close);
  CHECK(std::abs(lse(1, 0) - std::log(T(8))) < 4 * close);
  const auto weights = heed::attention_weights(q, k, heed::sinks({T(0), logits[1]}));
  for (Index j = 0; j < 3; ++j) CHECK(std::abs(weights(1, 0, j) - T(1) / 8) < close);
}

TEMPLATE_TEST_CASE("a large sink neither overflows nor loses the row", "[attention][weight_modifiers]", float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Tensor<T, 2> q{{1}}, v{{1}, {3}};
  Tensor<T, 1> lse(1);
  const auto attend = [&](T score, T sink) {
    const Tensor<T, 2> k{{score}, {score}};
    return heed::scaled_dot_product_attention(q, k, v, heed::scale(1), heed::sinks({sink}), heed::logsumexp(lse))(0, 0);
  };
  CHECK(attend(10000, 10000) == T(4) / 3);
  CHECK(attend(-10000, -10000) == T(4) / 3);
  CHECK(attend(-10000, 10000) == 0);
  CHECK(lse(0) == 10000);
  CHECK(attend(10000, -10000) == 2);
  CHECK(attend(3, -inf) == 2);  // no sink
  CHECK(lse(0) == T(3) + std::log(T(2)));
  CHECK(attend(3, inf) == 0);  // all of the weight
  CHECK(lse(0) == inf);
  CHECK(std::isnan(attend(3, std::numeric_limits<T>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("a row that sees no key gives zeros with a sink too", "[attention][weight_modifiers]", float,
                   double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 2, 1, 2, 3, 2, 2});
  Tensor<T, 3> lse(1, 2, 2);
  const Tensor<bool, 2> mask{{false, false, false}, {true, true, true}};
  const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask(mask), heed::sinks({T(1), T(-2)}),
                                                      heed::logsumexp(lse));
  for (Index h = 0; h < 2; ++h)
    for (Index c = 0; c < 2; ++c) CHECK(bits(out(0, h, 0, c)) == 0);
  CHECK(lse(0, 0, 0) == 1);
  CHECK(lse(0, 1, 0) == -2);
  CHECK(out(0, 0, 1, 0) != 0);
}

TEST_CASE("there is one sink for each query head", "[attention][weight_modifiers]") {
  const auto x = support::random_inputs<float>({1, 4, 2, 2, 3, 2, 2});
  const auto refused = [&](const std::vector<float>& sinks) {
    return shape_error([&] { heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::sinks(sinks)); });
  };
  const std::string name = "heed::scaled_dot_product_attention: sinks is ";
  CHECK(refused({1, 2}) == name + "ℝ^{2}, but there must be one number for each of 4 heads");
  CHECK(refused({1, 2, 3, 4, 5}) == name + "ℝ^{5}, but there must be one number for each of 4 heads");
}

TEMPLATE_TEST_CASE("a prob_mod changes the normalised weights of visible pairs alone", "[attention][weight_modifiers]",
                   float, double) {
  using T = TestType;
  const Problem<T> problem;
  const auto plain = heed::attention_weights(problem.x.q, problem.x.k, heed::mask(problem.mask));
  const auto mod = heed::prob_mod([](T weight, Index b, Index h, Index i, Index j) {
    return weight + static_cast<T>(1000 * b + 100 * h + 10 * i + j);
  });
  const auto changed = heed::attention_weights(problem.x.q, problem.x.k, mod, heed::mask(problem.mask));
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 4; ++h)
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 7; ++j) {
          if (problem.mask(i, j)) {
            CHECK(changed(b, h, i, j) == plain(b, h, i, j) + static_cast<T>(1000 * b + 100 * h + 10 * i + j));
          } else {
            CHECK(bits(changed(b, h, i, j)) == 0);
          }
        }
}

TEMPLATE_TEST_CASE("a prob_mod is not asked about hidden pairs, nor do they show, where a row is NaN",
                   "[attention][weight_modifiers]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  for (const Index s : {2, 40, 700})
    for (const Index t : {1, 20})
      for (const T poison : {Limits::quiet_NaN(), Limits::infinity()})
        for (const bool is_sink : {false, true}) {
          CAPTURE(s, t, poison, is_sink);
          auto x = support::random_inputs<T>({1, 1, 1, t, s, 3, 2});
          x.q.fill(1);  // an infinite key then has a score of +inf, not −inf, which would hide it
          Tensor<bool, 2> mask(t, s);
          for (Index i = 0; i < t; ++i)
            for (Index j = 0; j < s; ++j) mask(i, j) = j % 2 == 0;
          for (Index c = 0; c < 3; ++c) {
            if (!is_sink) x.k(0, 0, 0, c) = poison;
            x.k(0, 0, 1, c) = Limits::quiet_NaN();
          }
          for (Index c = 0; c < 2; ++c) x.v(0, 0, 1, c) = Limits::quiet_NaN();
          std::vector<T> sinks{is_sink ? poison : T(0)};
          std::atomic<Index> hidden{0};
          const auto one = [&](T, Index, Index, Index, Index j) {
            if (j % 2 != 0) ++hidden;
            return T(1);
          };
          const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask(mask), heed::sinks(sinks),
                                                              heed::prob_mod(one));
          CHECK(hidden == 0);
          for (Index i = 0; i < t; ++i)
            for (Index c = 0; c < 2; ++c) {
              double expected = 0;
              for (Index j = 0; j < s; j += 2) expected += static_cast<double>(x.v(0, 0, j, c));
              CHECK(static_cast<double>(out(0, 0, i, c)) == Approx(expected).margin(1e-3));
            }
        }
}

TEMPLATE_TEST_CASE("a prob_mod comes before dropout and leaves the log-sum-exp alone", "[attention][weight_modifiers]",
                   float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 2, 2, 3, 5, 2, 2});
  const Philox philox{3, 4};
  const auto plus_one = [](T weight, auto...) { return weight + 1; };
  Tensor<T, 3> lse(2, 2, 3), lse_plain(2, 2, 3);
  const auto plain = heed::attention_weights(x.q, x.k, heed::logsumexp(lse_plain));
  const auto both =
      heed::attention_weights(x.q, x.k, heed::dropout(0.5, philox), heed::prob_mod(plus_one), heed::logsumexp(lse));
  CHECK(same_bits(lse, lse_plain));
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 2; ++h)
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 5; ++j)
          CHECK(both(b, h, i, j) == (philox.uniform(b, h, i, j) < 0.5 ? 2 * (plain(b, h, i, j) + 1) : 0));
}

TEMPLATE_TEST_CASE("dropout of keys in a row is that of each key, but for hidden ones", "[attention][modifiers]", float,
                   double) {
  using T = TestType;
  const T weights_before[] = {T(0.5), T(0), -T(0), T(-0.25), std::numeric_limits<T>::quiet_NaN()};
  for (const double p : {0.0, 1e-12, 0.1, 0.5, 1 - 1e-12, 1.0}) {
    const auto dropout = heed::dropout(p, Philox{7, 3}).template bind<T>();
    for (const Index first : {0, 1, 2, 3, 4, 30, 129})
      for (const Index n : {0, 1, 3, 4, 5, 31, 32, 33, 100}) {
        CAPTURE(p, first, n);
        std::vector<T> row(static_cast<std::size_t>(n));
        for (Index k = 0; k < n; ++k) row[static_cast<std::size_t>(k)] = weights_before[k * 7 % 5];
        const std::vector<T> before = row;
        dropout.keep_row(row.data(), {1, 2, 5, first, 0}, n);
        for (Index k = 0; k < n; ++k) {
          const T was = before[static_cast<std::size_t>(k)];
          const T expected = heed::detail::is_hidden_weight(was) ? was : dropout.keep(was, {1, 2, 5, first + k, 0});
          CHECK((bits(row[static_cast<std::size_t>(k)]) == bits(expected) ||
                 (expected != expected && row[static_cast<std::size_t>(k)] != row[static_cast<std::size_t>(k)])));
        }
      }
  }
}
