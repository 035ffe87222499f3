// Random problems with every modifier at once, and what tests of properties do with them: hide pairs one by one, take
// some of the keys, compare. A seed gives the same problem everywhere.
#pragma once

#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace support {

/// All modifiers as values. Those that are not wanted have one that changes nothing, so that one instantiation serves
/// all compositions; the soft cap always caps.
template <class T>
struct Modifiers {
  double scale = 1, cap = 10;
  Causality causality = Causality::none;
  Index left = heed::unbounded, right = heed::unbounded;
  std::vector<Index> lengths;    // ℝ^{b}
  heed::Tensor<bool, 4> mask;    // axes of size 1 repeat
  heed::Tensor<T, 4> bias;       // axes of size 1 repeat
  std::vector<T> slopes, sinks;  // ℝ^{h}
  double p = 0;
  heed::Philox philox{};
  bool user_score = false, user_mask = false, user_weight = false;
  std::vector<T> shift{T(0)};  // ℝ^{b·h·t}, or one for all: the user's score function adds it

  // Which part of another problem this one is: users' functions see that one's indices.
  Index first_b = 0, first_h = 0;
  std::vector<Index> keys;  // ℝ^{s}

  /// A number to choose by, from the indices of a pair. Every one counts in its remainders by 3, 4, 5 and 11.
  Index hash(Index b, Index h, Index i, Index j) const {
    return 7 * (b + first_b) + 13 * (h + first_h) + 17 * i + 19 * keys[static_cast<std::size_t>(j)];
  }
  bool user_score_hides(Index b, Index h, Index i, Index j) const { return user_score && hash(b, h, i, j) % 11 == 0; }
  bool user_mask_shows(Index b, Index h, Index i, Index j) const { return !user_mask || hash(b, h, i, j) % 5 != 0; }
  /// No multiplication: fused with the addition it might round otherwise in one of two calls.
  T user_score_adds(Index b, Index h, Index i, Index j) const {
    constexpr T numbers[] = {T(0.5), T(-1.25), T(0.1), T(1)};
    return user_score ? numbers[hash(b, h, i, j) % 4] : T(0);
  }
  T user_weight_factor(Index b, Index h, Index i, Index j) const {
    constexpr T factors[] = {T(0.5), T(1), T(1.75)};
    return user_weight ? factors[hash(b, h, i, j) % 3] : T(1);
  }
};

template <class T>
struct Problem {
  Sizes n;
  Inputs<T> x;
  Modifiers<T> m;
};

template <class T, int R>
struct Results {
  heed::Tensor<T, R> out;      // ℝ^{b×h×t×e}
  heed::Tensor<T, R - 1> lse;  // ℝ^{b×h×t}
  heed::Tensor<T, R> weights;  // ℝ^{b×h×t×s}
};

template <class Number, std::size_t N>
Number pick(std::mt19937& rng, const Number (&from)[N]) {
  return from[rng() % N];
}

/// Hostile sizes. Several batches and heads only as far as there are at most 700 pairs, for unoptimised builds.
inline Sizes random_sizes(std::mt19937& rng) {
  constexpr Index sizes[] = {0, 1, 2, 3, 7, 7, 17, 17, 33, 33}, batches[] = {0, 1, 1, 1, 1, 2, 2, 2, 2, 3};
  constexpr Index heads[][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {4, 2}, {6, 2}};
  const auto& [h, g] = heads[rng() % std::size(heads)];
  Sizes n{1, h, g, 1, 1, 1, 1};
  n.b = pick(rng, batches);
  n.t = pick(rng, sizes);
  n.s = pick(rng, sizes);
  n.d = pick(rng, hostile_sizes);
  n.e = pick(rng, hostile_sizes);
  while (n.b * n.h > 1 && n.b * n.h * n.t * n.s > 700) {
    if (n.b > 1 && rng() % 2 == 0) {
      --n.b;
    } else {
      n.h = n.g = 1;
    }
  }
  return n;
}

/// Each modifier but dropout with probability 1/2, those that hide with 1/3, else too little would be seen.
template <class T>
Modifiers<T> random_modifiers(const Sizes& n, std::mt19937& rng) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const auto coin = [&] { return rng() % 2 == 0; };
  const auto hides = [&] { return rng() % 3 == 0; };
  const auto uniform = [&] { return static_cast<double>(rng()) * 0x1p-31 - 1; };  // [−1, 1)
  const auto random_shape = [&] {
    heed::Shape<4> shape{n.b, n.h, n.t, n.s};
    for (int axis = 0; axis < 4; ++axis)
      if (coin()) shape[axis] = 1;
    return shape;
  };
  Modifiers<T> m;
  m.scale = coin() ? 1 / std::sqrt(static_cast<double>(n.d)) : uniform();
  m.cap = pick(rng, {2.0, 10.0, 20.0});
  if (coin()) m.causality = hides() ? Causality::upper_left : Causality::lower_right;
  for (Index* side : {&m.left, &m.right})
    if (hides()) *side = pick(rng, {Index{0}, Index{1}, Index{5}, Index{40}});
  m.lengths.assign(static_cast<std::size_t>(n.b), n.s);
  if (hides())
    for (Index& length : m.lengths) length = static_cast<Index>(rng()) % (n.s + 1);
  m.mask = filled(random_shape(), true);
  if (hides())
    for (Index k = 0; k < m.mask.size(); ++k) m.mask.data()[k] = rng() % 3 != 0;
  m.bias = heed::Tensor<T, 4>(random_shape());
  if (coin())
    for (Index k = 0; k < m.bias.size(); ++k) m.bias.data()[k] = rng() % 10 == 0 ? -inf : static_cast<T>(2 * uniform());
  m.slopes.assign(static_cast<std::size_t>(n.h), T(0));
  if (coin())
    for (T& slope : m.slopes) slope = static_cast<T>(uniform());
  m.sinks.assign(static_cast<std::size_t>(n.h), -inf);
  if (coin())
    for (T& sink : m.sinks) sink = rng() % 4 == 0 ? -inf : static_cast<T>(3 * uniform());
  m.user_score = coin();
  m.user_mask = hides();
  m.user_weight = coin();
  m.philox = {17, rng()};
  m.keys.resize(static_cast<std::size_t>(n.s));
  std::iota(m.keys.begin(), m.keys.end(), Index{0});
  return m;
}

template <class T>
Problem<T> random_problem(unsigned seed) {
  std::mt19937 rng(seed);
  const Sizes n = random_sizes(rng);
  auto x = random_inputs<T>(n, rng);
  return {n, std::move(x), random_modifiers<T>(n, rng)};
}

/// Calls f with all modifiers for a problem of so many heads and queries.
template <class T, class F>
void with_all(const Modifiers<T>& m, Index h_count, Index t, const F& f) {
  const auto score = [&](T s, Index b, Index h, Index i, Index j) {
    if (m.user_score_hides(b, h, i, j)) return -std::numeric_limits<T>::infinity();
    const Index row = m.shift.size() == 1 ? 0 : (b * h_count + h) * t + i;
    return s + m.user_score_adds(b, h, i, j) + m.shift[static_cast<std::size_t>(row)];
  };
  const auto shows = [&](Index b, Index h, Index i, Index j) { return m.user_mask_shows(b, h, i, j); };
  const auto weight = [&](T w, Index b, Index h, Index i, Index j) { return w * m.user_weight_factor(b, h, i, j); };
  const auto call = [&](const auto&... causality) {
    f(heed::scale(m.scale), heed::soft_cap(m.cap), heed::alibi(m.slopes), heed::bias(m.bias), heed::score_mod(score),
      causality..., heed::sliding_window(m.left, m.right), heed::key_lengths(m.lengths), heed::mask(m.mask),
      heed::mask_mod(shows), heed::sinks(m.sinks), heed::prob_mod(weight), heed::dropout(m.p, m.philox));
  };
  if (m.causality == Causality::none) call();
  if (m.causality == Causality::upper_left) call(heed::causal());
  if (m.causality == Causality::lower_right) call(heed::causal_lower_right());
}

/// Attention with all modifiers, of rank 2 or 4.
template <class T, int R>
Results<T, R> attend(const heed::TensorView<const T, R>& q, const heed::TensorView<const T, R>& k,
                     const heed::TensorView<const T, R>& v, const Modifiers<T>& m) {
  heed::Shape<R> out = q.shape(), weights = q.shape();
  heed::Shape<R - 1> lse;
  out[R - 1] = v.shape()[R - 1];
  weights[R - 1] = k.shape()[R - 2];
  for (int axis = 0; axis < R - 1; ++axis) lse[axis] = q.shape()[axis];
  Results<T, R> results{heed::Tensor<T, R>(out), heed::Tensor<T, R - 1>(lse), heed::Tensor<T, R>(weights)};
  with_all(m, R == 4 ? q.shape()[1] : 1, q.shape()[R - 2], [&](const auto&... modifiers) {
    heed::scaled_dot_product_attention_into(results.out, q, k, v, modifiers..., heed::logsumexp(results.lse),
                                            heed::weights(results.weights));
  });
  return results;
}
template <class T>
Results<T, 4> attend(const Problem<T>& problem) {
  const Inputs<T>& x = problem.x;
  return attend<T, 4>(heed::view(x.q), heed::view(x.k), heed::view(x.v), problem.m);
}

/// The position of query i of batch b among the keys.
template <class T>
Index position(const Sizes& n, const Modifiers<T>& m, Index b, Index i) {
  return m.causality == Causality::lower_right ? i + m.lengths[static_cast<std::size_t>(b)] - n.t : i;
}

/// Whether position p sees key j through a window, from its ends: in double, where any two numbers add up.
template <class T>
bool window_shows(const Modifiers<T>& m, Index p, Index j) {
  const auto number = [](Index n) { return static_cast<double>(n); };
  return number(j) >= number(p) - number(m.left) && number(j) <= number(p) + number(m.right);
}

/// Whether a pair takes part, by the definition of every modifier.
template <class T>
bool is_visible(const Problem<T>& problem, Index b, Index h, Index i, Index j) {
  const auto& m = problem.m;
  const Index p = position(problem.n, m, b, i);
  return j < m.lengths[static_cast<std::size_t>(b)] && (m.causality == Causality::none || j <= p) &&
         window_shows(m, p, j) && broadcast(m.mask, b, h, i, j) && m.user_mask_shows(b, h, i, j) &&
         broadcast(m.bias, b, h, i, j) != -std::numeric_limits<T>::infinity() && !m.user_score_hides(b, h, i, j);
}

/// f(b, h, i, j) for every pair.
template <class F>
void for_each_pair(const Sizes& n, const F& f) {
  for (Index b = 0; b < n.b; ++b)
    for (Index h = 0; h < n.h; ++h)
      for (Index i = 0; i < n.t; ++i)
        for (Index j = 0; j < n.s; ++j) f(b, h, i, j);
}

/// A tensor ℝ^{b×h×t×s} of f(b, h, i, j).
template <class T, class F>
heed::Tensor<T, 4> for_pairs(const Sizes& n, const F& f) {
  heed::Tensor<T, 4> x(n.b, n.h, n.t, n.s);
  for_each_pair(n, [&](Index b, Index h, Index i, Index j) { x(b, h, i, j) = static_cast<T>(f(b, h, i, j)); });
  return x;
}

/// The same problem with nothing that depends on the place of a key: a mask of the visible pairs instead of causality,
/// window and lengths, and a bias instead of alibi.
template <class T>
Problem<T> without_places(const Problem<T>& problem) {
  Problem<T> result = problem;
  const auto& m = problem.m;
  result.m.mask =
      for_pairs<bool>(problem.n, [&](Index b, Index h, Index i, Index j) { return is_visible(problem, b, h, i, j); });
  result.m.bias = for_pairs<T>(problem.n, [&](Index b, Index h, Index i, Index j) {
    const Index distance = std::abs(position(problem.n, m, b, i) - j);
    return broadcast(m.bias, b, h, i, j) - m.slopes[static_cast<std::size_t>(h)] * static_cast<T>(distance);
  });
  result.m.causality = Causality::none;
  result.m.left = result.m.right = heed::unbounded;
  std::fill(result.m.lengths.begin(), result.m.lengths.end(), problem.n.s);
  std::fill(result.m.slopes.begin(), result.m.slopes.end(), T(0));
  return result;
}

/// Those slices of an axis, in this order.
template <class T>
heed::Tensor<T, 4> gathered(const heed::Tensor<T, 4>& x, int axis, const std::vector<Index>& slices) {
  heed::Shape<4> shape = x.shape();
  shape[axis] = static_cast<Index>(slices.size());
  heed::Tensor<T, 4> result(shape);
  for (Index n = 0; n < shape[axis]; ++n) {
    const Index from = slices[static_cast<std::size_t>(n)];
    heed::copy_into(heed::slice(result, axis, n, n + 1), heed::slice(x, axis, from, from + 1));
  }
  return result;
}

/// The problem of only these keys, in this order: the first ones, unless nothing depends on the place of a key.
template <class T>
Problem<T> with_keys(const Problem<T>& problem, const std::vector<Index>& keys) {
  Problem<T> result = problem;
  result.n.s = static_cast<Index>(keys.size());
  result.x.k = gathered(problem.x.k, 2, keys);
  result.x.v = gathered(problem.x.v, 2, keys);
  if (problem.m.mask.shape()[3] != 1) result.m.mask = gathered(problem.m.mask, 3, keys);
  if (problem.m.bias.shape()[3] != 1) result.m.bias = gathered(problem.m.bias, 3, keys);
  for (Index& length : result.m.lengths) length = std::min(length, result.n.s);
  result.m.keys.clear();
  for (const Index key : keys) result.m.keys.push_back(problem.m.keys[static_cast<std::size_t>(key)]);
  return result;
}

/// begin, begin + 1, …, end − 1.
inline std::vector<Index> range(Index begin, Index end) {
  std::vector<Index> list(static_cast<std::size_t>(end - begin));
  std::iota(list.begin(), list.end(), begin);
  return list;
}

/// Two numbers at most `units` roundings of 1 or of the larger one apart; infinities equal themselves, NaN nothing.
template <class T>
bool near(T x, T y, double units = 64) {
  if (x == y) return true;
  if (!std::isfinite(x) || !std::isfinite(y)) return false;
  const double u = static_cast<double>(x), v = static_cast<double>(y);
  const double epsilon = units * static_cast<double>(std::numeric_limits<T>::epsilon());
  return std::abs(u - v) <= epsilon * std::max({1.0, std::abs(u), std::abs(v)});
}
template <class T, int R>
bool near(const heed::Tensor<T, R>& x, const heed::Tensor<T, R>& y) {
  return x.shape() == y.shape() &&
         std::equal(x.data(), x.data() + x.size(), y.data(), [](T u, T v) { return near(u, v); });
}
template <class T, int R>
bool near(const Results<T, R>& x, const Results<T, R>& y) {
  return near(x.out, y.out) && near(x.lse, y.lse) && near(x.weights, y.weights);
}
template <class T, int R>
bool same_bits(const Results<T, R>& x, const Results<T, R>& y) {
  return same_bits(x.out, y.out) && same_bits(x.lse, y.lse) && same_bits(x.weights, y.weights);
}

}  // namespace support
