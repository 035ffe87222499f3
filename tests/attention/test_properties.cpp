// What holds of attention whatever the problem and the modifiers, over random ones. A case follows from its seed alone.
#include "catch.hpp"
#include "support/random_attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using heed::Index;
using heed::Shape;
using heed::Tensor;
using support::attend;
using support::gathered;
using support::near;
using support::Problem;
using support::range;
using support::same_bits;
using support::with_keys;

namespace {

/// check(problem, rng) for random problems.
template <class T, class Check>
void for_random_problems(unsigned count, const Check& check) {
  for (unsigned seed = 0; seed < count; ++seed) {
    auto problem = support::random_problem<T>(seed);
    CAPTURE(seed, to_string(problem.n));
    std::mt19937 rng(seed + 1000);
    check(problem, rng);
  }
}

/// The problem of one head of one batch.
template <class T>
Problem<T> single_head(const Problem<T>& problem, Index b, Index h) {
  const Index g = h / (problem.n.h / problem.n.g);
  const auto only = [](const auto& x, int axis, Index n) { return x.shape()[axis] == 1 ? x : gathered(x, axis, {n}); };
  const auto element = [](const auto& list, Index n) { return list[static_cast<std::size_t>(n)]; };
  Problem<T> result = problem;
  result.n.b = result.n.h = result.n.g = 1;
  result.x = {only(only(problem.x.q, 0, b), 1, h), only(only(problem.x.k, 0, b), 1, g),
              only(only(problem.x.v, 0, b), 1, g)};
  result.m.mask = only(only(problem.m.mask, 0, b), 1, h);
  result.m.bias = only(only(problem.m.bias, 0, b), 1, h);
  result.m.lengths = {element(problem.m.lengths, b)};
  result.m.slopes = {element(problem.m.slopes, h)};
  result.m.sinks = {element(problem.m.sinks, h)};
  result.m.first_b = b;
  result.m.first_h = h;
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("a constant added to every score of a row moves the log-sum-exp by it and nothing else",
                   "[attention][properties]", float, double) {
  using T = TestType;
  for_random_problems<T>(30, [](Problem<T>& problem, std::mt19937& rng) {
    problem.m.p = rng() % 2 == 0 ? 0 : 0.3;
    const auto& n = problem.n;
    const bool has_sinks = rng() % 2 == 0;
    if (!has_sinks) problem.m.sinks.assign(problem.m.sinks.size(), -std::numeric_limits<T>::infinity());
    // ℝ^{b×h×t}; a sink is a score of all rows of its head, which then must move together.
    Tensor<T, 3> shift = support::random<T>(rng, n.b, n.h, n.t);
    for (Index k = 0; k < shift.size(); ++k) shift.data()[k] *= 4;
    if (has_sinks)
      for (Index k = 0; k < shift.size(); ++k) shift.data()[k] = T(3 * (k / n.t % n.h) - 4);

    auto expected = attend(problem);
    for (Index k = 0; k < shift.size(); ++k) expected.lse.data()[k] += shift.data()[k];
    if (has_sinks)
      for (Index h = 0; h < n.h; ++h) problem.m.sinks[static_cast<std::size_t>(h)] += T(3 * h - 4);
    Problem<T> biased = problem, modified = problem;
    biased.m.bias = support::for_pairs<T>(n, [&](Index b, Index h, Index i, Index j) {
      return support::broadcast(problem.m.bias, b, h, i, j) + shift(b, h, i);
    });
    modified.m.shift.assign(shift.data(), shift.data() + shift.size());
    if (shift.size() > 0) CHECK(near(attend(modified), expected));
    CHECK(near(attend(biased), expected));
  });
}

TEMPLATE_TEST_CASE("keys in another order have their weights in that order and give the same output",
                   "[attention][properties]", float, double) {
  using T = TestType;
  for_random_problems<T>(30, [](const Problem<T>& problem, std::mt19937& rng) {
    auto expected = attend(problem);
    auto order = range(0, problem.n.s);
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng() % k]);
    expected.weights = gathered(expected.weights, 3, order);
    CHECK(near(attend(with_keys(support::without_places(problem), order)), expected));
  });
}

TEMPLATE_TEST_CASE("attention over parts of the keys merges into that over all, however they are cut",
                   "[attention][properties]", float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  Index half_empty_rows = 0, empty_rows = 0;
  for_random_problems<T>(25, [&](const Problem<T>& problem, std::mt19937& rng) {
    const auto whole = attend(problem);
    const auto without_places = support::without_places(problem);
    const Index s = problem.n.s;
    const auto part = [&](Index begin, Index end, bool with_sinks) {
      auto keys = with_keys(without_places, range(begin, end));
      if (!with_sinks) keys.m.sinks.assign(keys.m.sinks.size(), -inf);
      return attend(keys);
    };
    const auto joined = [](const auto& x, const auto& y) { return heed::merge(x.out, x.lse, y.out, y.lse); };
    const auto is_whole = [&](const auto& merged) {
      return near(merged.out, whole.out) && near(merged.lse, whole.lse);
    };
    const Index middle = static_cast<Index>(rng()) % (s + 1);
    for (const Index cut : {Index{0}, middle, s}) {
      CAPTURE(cut);
      const bool first_has_sinks = rng() % 2 == 0;
      const auto first = part(0, cut, first_has_sinks), second = part(cut, s, !first_has_sinks);
      CHECK(is_whole(joined(first, second)));
      CHECK(is_whole(joined(second, first)));
      if (cut != middle) continue;
      for (Index k = 0; k < first.lse.size(); ++k) {
        const bool sees_first = first.lse.data()[k] != -inf, sees_second = second.lse.data()[k] != -inf;
        half_empty_rows += sees_first != sees_second ? 1 : 0;
        empty_rows += sees_first || sees_second ? 0 : 1;
      }
    }
    const Index end = middle + static_cast<Index>(rng()) % (s - middle + 1);
    const auto sinks_of = rng() % 3;
    CAPTURE(middle, end, sinks_of);
    const auto first = part(0, middle, sinks_of == 0), second = part(middle, end, sinks_of == 1),
               third = part(end, s, sinks_of == 2);
    CHECK(is_whole(joined(joined(first, second), third)));
    CHECK(is_whole(joined(first, joined(second, third))));
    CHECK(is_whole(joined(joined(third, first), second)));
  });
  CHECK(half_empty_rows > 100);
  CHECK(empty_rows > 100);
}

TEMPLATE_TEST_CASE("merging goes head by head, in ranks 2, 3 and 4", "[attention][properties]", float, double) {
  using T = TestType;
  for_random_problems<T>(10, [](const Problem<T>& problem, std::mt19937& rng) {
    const auto a = attend(problem);
    auto other = problem;
    other.x.k = support::random<T>(rng, problem.n.b, problem.n.g, problem.n.s, problem.n.d);
    const auto c = attend(other);
    // With -march=native a·x + b·y may round otherwise in each rank: the compiler chooses which product to fuse.
    const auto all = heed::merge(a.out, a.lse, c.out, c.lse);
    for (Index b = 0; b < problem.n.b; ++b) {
      const auto batch = heed::merge(a.out[b], a.lse[b], c.out[b], c.lse[b]);
      CHECK(near(batch.out, heed::copy(all.out[b])));
      CHECK(same_bits(batch.lse, all.lse[b]));
      for (Index h = 0; h < problem.n.h; ++h) {
        const auto head = heed::merge(a.out[b][h], a.lse[b][h], c.out[b][h], c.lse[b][h]);
        CHECK(near(head.out, heed::copy(all.out[b][h])));
        CHECK(same_bits(head.lse, all.lse[b][h]));
      }
    }
  });
}

TEMPLATE_TEST_CASE("every head of every batch is as if computed alone", "[attention][properties]", float, double) {
  using T = TestType;
  for_random_problems<T>(30, [](const Problem<T>& problem, std::mt19937&) {
    const auto all = attend(problem);
    for (Index b = 0; b < problem.n.b; ++b)
      for (Index h = 0; h < problem.n.h; ++h) {
        CAPTURE(b, h);
        const auto [n, x, m] = single_head(problem, b, h);
        const auto alone = attend<T, 2>(x.q[0][0], x.k[0][0], x.v[0][0], m);
        CHECK(same_bits(alone.out, all.out[b][h]));
        CHECK(same_bits(alone.lse, all.lse[b][h]));
        CHECK(same_bits(alone.weights, all.weights[b][h]));
      }
  });
}

TEMPLATE_TEST_CASE("zeros appended to queries and keys change nothing at an explicit scale", "[attention][properties]",
                   float, double) {
  using T = TestType;
  for_random_problems<T>(30, [](const Problem<T>& problem, std::mt19937& rng) {
    const Index zeros = 1 + static_cast<Index>(rng()) % 20, d = problem.n.d;
    const auto widened = [&](const Tensor<T, 4>& x) {
      Shape<4> shape = x.shape();
      shape[3] += zeros;
      Tensor<T, 4> wide(shape);
      heed::copy_into(heed::slice(wide, 3, 0, d), x);
      return wide;
    };
    Problem<T> wide = problem;
    wide.n.d += zeros;
    wide.x.q = widened(problem.x.q);
    wide.x.k = widened(problem.x.k);
    CHECK(support::near(attend(wide), attend(problem)));  // the size may choose another kernel
  });
}

TEMPLATE_TEST_CASE("keys past a length do not exist", "[attention][properties]", float, double) {
  using T = TestType;
  for_random_problems<T>(30, [](Problem<T>& problem, std::mt19937& rng) {
    const auto& n = problem.n;
    problem.m.p = rng() % 2 == 0 ? 0 : 0.3;
    if (rng() % 2 == 0) problem.m.causality = support::Causality::lower_right;
    for (Index& length : problem.m.lengths) length = static_cast<Index>(rng()) % (n.s + 1);
    for (Index b = 0; b < n.b; ++b)
      for (Index g = 0; g < n.g; ++g)
        for (Index j = problem.m.lengths[static_cast<std::size_t>(b)]; j < n.s; ++j) {
          problem.x.k(b, g, j, 0) = std::numeric_limits<T>::quiet_NaN();
          problem.x.v(b, g, j, n.e - 1) = std::numeric_limits<T>::quiet_NaN();
        }
    const auto all = attend(problem);
    for (Index b = 0; b < n.b; ++b) {
      CAPTURE(b);
      const Index length = problem.m.lengths[static_cast<std::size_t>(b)];
      const auto cut = attend(with_keys(problem, range(0, length)));
      CHECK(same_bits(cut.out[b], all.out[b]));
      CHECK(same_bits(cut.lse[b], all.lse[b]));
      CHECK(same_bits(cut.weights[b], heed::slice(all.weights[b], 2, 0, length)));
      const auto past = heed::copy(heed::slice(all.weights[b], 2, length, n.s));
      CHECK(same_bits(past, Tensor<T, 3>(past.shape())));
    }
  });
}

TEMPLATE_TEST_CASE("the weights of what is seen are positive and sum to 1 less the share of the sink",
                   "[attention][properties]", float, double) {
  using T = TestType;
  Index empty_rows = 0;
  for_random_problems<T>(60, [&](Problem<T>& problem, std::mt19937&) {
    const auto& n = problem.n;
    problem.m.user_weight = false;
    const auto [out, lse, weights] = attend(problem);
    for (Index b = 0; b < n.b; ++b)
      for (Index h = 0; h < n.h; ++h)
        for (Index i = 0; i < n.t; ++i) {
          CAPTURE(b, h, i);
          const double sink = static_cast<double>(problem.m.sinks[static_cast<std::size_t>(h)]);
          double sum = 0;
          Index seen = 0, wrong = 0;
          for (Index j = 0; j < n.s; ++j) {
            const bool visible = support::is_visible(problem, b, h, i, j);
            const T weight = weights(b, h, i, j);
            seen += visible ? 1 : 0;
            wrong += (visible ? weight > 0 : support::bits(weight) == 0) ? 0 : 1;
            sum += static_cast<double>(weight);
          }
          CHECK(wrong == 0);
          if (seen > 0) {
            CHECK(near(static_cast<T>(sum), static_cast<T>(1 - std::exp(sink - static_cast<double>(lse(b, h, i))))));
          } else {
            ++empty_rows;
            CHECK(near(lse(b, h, i), static_cast<T>(sink)));
            for (Index c = 0; c < n.e; ++c) CHECK(support::bits(out(b, h, i, c)) == 0);
          }
        }
  });
  CHECK(empty_rows > 100);
}

TEMPLATE_TEST_CASE("the output is the values by their weights, which attention_weights gives too",
                   "[attention][properties]", float, double) {
  using T = TestType;
  for_random_problems<T>(30, [](Problem<T>& problem, std::mt19937& rng) {
    problem.m.p = rng() % 2 == 0 ? 0 : 0.5;
    const auto& n = problem.n;
    const auto results = attend(problem);
    Tensor<T, 4> sum(n.b, n.h, n.t, n.e);
    support::for_each_pair(n, [&](Index b, Index h, Index i, Index j) {
      for (Index c = 0; c < n.e; ++c)
        sum(b, h, i, c) += results.weights(b, h, i, j) * problem.x.v(b, h / (n.h / n.g), j, c);
    });
    CHECK(near(results.out, sum));
    support::with_all(problem.m, n.h, n.t, [&](const auto&... modifiers) {
      CHECK(same_bits(heed::attention_weights(problem.x.q, problem.x.k, modifiers...), results.weights));
    });
  });
}

TEMPLATE_TEST_CASE("an axis of size 1 in a mask or bias stands for equal slices", "[attention][properties]", float,
                   double) {
  using T = TestType;
  for_random_problems<T>(30, [](Problem<T>& problem, std::mt19937& rng) {
    const auto& n = problem.n;
    const Shape<4> full{n.b, n.h, n.t, n.s};
    const auto random_shape = [&] {
      Shape<4> shape = full;
      for (int axis = 0; axis < 4; ++axis)
        if (rng() % 2 == 0) shape[axis] = 1;
      return shape;
    };
    const auto mask_shape = random_shape(), bias_shape = random_shape();
    problem.m.mask = support::random<bool>(rng, mask_shape[0], mask_shape[1], mask_shape[2], mask_shape[3]);
    problem.m.bias = support::random<T>(rng, bias_shape[0], bias_shape[1], bias_shape[2], bias_shape[3]);
    Problem<T> expanded = problem;
    for (int axis = 0; axis < 4; ++axis) {
      const std::vector<Index> first(static_cast<std::size_t>(full[axis]), 0);
      if (mask_shape[axis] == 1) expanded.m.mask = gathered(expanded.m.mask, axis, first);
      if (bias_shape[axis] == 1) expanded.m.bias = gathered(expanded.m.bias, axis, first);
    }
    CHECK(same_bits(attend(problem), attend(expanded)));
  });
}

TEMPLATE_TEST_CASE("a window that reaches back to the first key and not ahead is causal", "[attention][properties]",
                   float, double) {
  using T = TestType;
  using support::Causality;
  for_random_problems<T>(20, [](Problem<T>& problem, std::mt19937& rng) {
    const auto windowed = [&](Causality causality, Index left, Index right) {
      problem.m.causality = causality;
      problem.m.left = left;
      problem.m.right = right;
      return attend(problem);
    };
    const auto far_enough = [&](Index count) {
      return support::pick(rng, {std::max<Index>(count - 1, 0), count, heed::unbounded});
    };
    const auto upper_left = windowed(Causality::upper_left, heed::unbounded, heed::unbounded);
    const auto lower_right = windowed(Causality::lower_right, heed::unbounded, heed::unbounded);
    const Index left = far_enough(problem.n.t);
    CAPTURE(left);
    CHECK(same_bits(windowed(Causality::none, left, 0), upper_left));
    CHECK(same_bits(windowed(Causality::upper_left, left, 0), upper_left));
    CHECK(same_bits(windowed(Causality::upper_left, left, heed::unbounded), upper_left));
    // Here the last query stands at the last key, far from the first one even if it is the only query.
    CHECK(same_bits(windowed(Causality::lower_right, far_enough(problem.n.s), 0), lower_right));
  });
}

TEMPLATE_TEST_CASE("a window is the mask of its definition, wherever the queries stand", "[attention][properties]",
                   float, double) {
  using T = TestType;
  constexpr Index sides[] = {0, 1, 2, 5, 16, heed::unbounded - 1, heed::unbounded};
  for_random_problems<T>(30, [&](Problem<T>& problem, std::mt19937& rng) {
    problem.m.left = support::pick(rng, sides);
    problem.m.right = support::pick(rng, sides);
    CAPTURE(problem.m.left, problem.m.right);
    auto masked = problem;
    masked.m.left = masked.m.right = heed::unbounded;
    masked.m.mask = support::for_pairs<bool>(problem.n, [&](Index b, Index h, Index i, Index j) {
      return support::broadcast(problem.m.mask, b, h, i, j) &&
             support::window_shows(problem.m, support::position(problem.n, problem.m, b, i), j);
    });
    CHECK(support::near(attend(problem), attend(masked)));  // keys are passed over at other places
  });
}
