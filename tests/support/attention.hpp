// Attention written once more, with loops alone and no part of heed's: what the tests compare with. It works in any
// arithmetic: in long double it is the truth, in the tensors' type the plain computation that errors are measured
// against.
#pragma once

#include "support/tensors.hpp"

#include <heed/attention/modifiers.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace support {

inline constexpr Index hostile_sizes[] = {1, 2, 3, 7, 17, 33};

struct Sizes {
  Index b, h, g, t, s, d, e;
};

inline std::string to_string(const Sizes& n) {
  const Index sizes[] = {n.b, n.h, n.g, n.t, n.s, n.d, n.e};
  return "b, h, g, t, s, d, e = " + heed::to_string(sizes);
}

/// q ℝ^{b×h×t×d}, k ℝ^{b×g×s×d}, v ℝ^{b×g×s×e}.
template <class T>
struct Inputs {
  heed::Tensor<T, 4> q, k, v;
};

template <class T>
Inputs<T> random_inputs(const Sizes& n, std::mt19937& rng) {
  return {random<T>(rng, n.b, n.h, n.t, n.d), random<T>(rng, n.b, n.g, n.s, n.d), random<T>(rng, n.b, n.g, n.s, n.e)};
}
template <class T>
Inputs<T> random_inputs(const Sizes& n, unsigned seed = 1) {
  std::mt19937 rng(seed);
  return random_inputs<T>(n, rng);
}

enum class Causality { none, upper_left, lower_right };

/// Every option at once. Those that are not wanted have a value that changes nothing, so that one instantiation serves
/// all compositions.
template <class T>
struct Options {
  double scale;
  Causality causality = Causality::none;
  std::array<heed::Tensor<bool, 4>, 2> masks;
  std::array<heed::Tensor<T, 4>, 2> biases;
  std::vector<Index> lengths;
  double p = 0;
  heed::Philox philox{};

  explicit Options(const Sizes& n)
      : scale(1 / std::sqrt(static_cast<double>(n.d))), lengths(static_cast<std::size_t>(n.b), n.s) {
    for (auto& mask : masks) mask = filled(heed::Shape<4>(1, 1, 1, 1), true);
    for (auto& bias : biases) bias = heed::Tensor<T, 4>(1, 1, 1, 1);
  }
};

/// Each option with probability 1/2; masks and biases with axes of size 1.
template <class T>
Options<T> random_options(const Sizes& n, std::mt19937& rng) {
  const auto coin = [&] { return rng() % 2 == 0; };
  const auto size = [&](Index full) { return coin() ? full : Index{1}; };
  Options<T> options(n);
  if (coin()) options.scale = static_cast<double>(rng()) * 0x1p-31 - 1;
  if (coin()) options.causality = coin() ? Causality::upper_left : Causality::lower_right;
  for (auto& mask : options.masks)
    if (coin()) mask = random<bool>(rng, size(n.b), size(n.h), size(n.t), size(n.s));
  for (auto& bias : options.biases) {
    if (!coin()) continue;
    bias = random<T>(rng, size(n.b), size(n.h), size(n.t), size(n.s));
    for (Index i = 0; i < bias.size(); ++i)
      if (rng() % 10 == 0) bias.data()[i] = -std::numeric_limits<T>::infinity();
  }
  if (coin())
    for (Index& length : options.lengths) length = static_cast<Index>(rng()) % (n.s + 1);
  if (coin()) options.p = coin() ? 0.1 : 0.5;
  options.philox = {rng(), rng()};
  return options;
}

/// Calls f with heed's modifiers for the options.
template <class T, class F>
auto with_modifiers(const Options<T>& o, const heed::TensorView<T, 3>& lse, const F& f) {
  const auto call = [&](const auto&... causality) {
    return f(heed::bias(o.biases[0]), heed::mask(o.masks[0]), heed::scale(o.scale), causality...,
             heed::key_lengths(o.lengths), heed::logsumexp(lse), heed::mask(o.masks[1]), heed::dropout(o.p, o.philox),
             heed::bias(o.biases[1]));
  };
  if (o.causality == Causality::upper_left) return call(heed::causal());
  if (o.causality == Causality::lower_right) return call(heed::causal_lower_right());
  return call();
}

/// Results in row-major order, and how far a computation in T may be from them.
template <class Real>
struct Attention {
  std::vector<Real> out, lse, weights;  // ℝ^{b×h×t×e}, ℝ^{b×h×t}, ℝ^{b×h×t×s}
  std::vector<double> out_bound, lse_bound, weight_bound;
};

/// The element of a mask or bias for a pair: axes of size 1 repeat.
template <class T>
T broadcast(const heed::Tensor<T, 4>& x, Index b, Index h, Index i, Index j) {
  const auto& n = x.shape();
  return x(n[0] == 1 ? 0 : b, n[1] == 1 ? 0 : h, n[2] == 1 ? 0 : i, n[3] == 1 ? 0 : j);
}

/// Error bounds, to first order in the unit roundoff u of T and with room for an exp of a few units: a score of d
/// products and two biases is off by at most δ = (d + 6)·u·(scale·Σ|q·k| + Σ|bias|), a weight relative by twice the
/// largest δ in numerator and denominator and 2(s + 8)·u for the sum and the division, an output by that and (s + 4)·u
/// more.
template <class Real, class T>
Attention<Real> plain_attention(const Inputs<T>& x, const Options<T>& o) {
  constexpr double u = std::numeric_limits<T>::epsilon() / 2;
  constexpr double smallest = std::numeric_limits<T>::min();
  const Index h_count = x.q.shape()[1], t = x.q.shape()[2], d = x.q.shape()[3];
  const Index s = x.k.shape()[2], e = x.v.shape()[3];
  const auto is_hidden = [&](Index b, Index h, Index i, Index j) {
    const Index length = o.lengths[static_cast<std::size_t>(b)];
    if (j >= length) return true;
    if (o.causality == Causality::upper_left && j > i) return true;
    if (o.causality == Causality::lower_right && t - 1 - i > length - 1 - j) return true;
    for (const auto& mask : o.masks)
      if (!broadcast(mask, b, h, i, j)) return true;
    for (const auto& bias : o.biases)
      if (broadcast(bias, b, h, i, j) == -std::numeric_limits<T>::infinity()) return true;
    return false;
  };

  Attention<Real> result;
  for (Index b = 0; b < x.q.shape()[0]; ++b)
    for (Index h = 0; h < h_count; ++h)
      for (Index i = 0; i < t; ++i) {
        const Index kv = h * x.k.shape()[1] / h_count;
        std::vector<Index> seen;
        std::vector<Real> scores;
        double off = 0;
        for (Index j = 0; j < s; ++j) {
          if (is_hidden(b, h, i, j)) continue;
          Real score = 0;
          double magnitude = 0;
          for (Index c = 0; c < d; ++c) {
            const Real product = static_cast<Real>(x.q(b, h, i, c)) * static_cast<Real>(x.k(b, kv, j, c));
            score += product;
            magnitude += std::abs(static_cast<double>(product) * o.scale);
          }
          score *= static_cast<Real>(o.scale);
          for (const auto& bias : o.biases) {
            score += static_cast<Real>(broadcast(bias, b, h, i, j));
            magnitude += std::abs(static_cast<double>(broadcast(bias, b, h, i, j)));
          }
          seen.push_back(j);
          scores.push_back(score);
          off = std::max(off, static_cast<double>(d + 6) * u * magnitude);
        }
        const double relative = std::expm1(4 * off + 2 * static_cast<double>(s + 8) * u);

        std::vector<Real> weights(static_cast<std::size_t>(s)), out(static_cast<std::size_t>(e));
        std::vector<double> weight_bounds(static_cast<std::size_t>(s)), out_bounds(static_cast<std::size_t>(e));
        Real lse = -std::numeric_limits<Real>::infinity();
        double lse_bound = 0;
        if (!seen.empty()) {
          const Real largest = *std::max_element(scores.begin(), scores.end());
          Real sum = 0;
          for (const Real score : scores) sum += std::exp(score - largest);
          lse = largest + std::log(sum);
          lse_bound = 2 * off + static_cast<double>(s + 8) * u + 4 * u * std::abs(static_cast<double>(lse));
          for (std::size_t n = 0; n < seen.size(); ++n) {
            const Index j = seen[n];
            Real weight = std::exp(scores[n] - largest) / sum;
            if (o.p > 0) {
              const bool kept = o.p < 1 && o.philox.uniform(b, h, i, j) < 1 - o.p;
              weight = kept ? weight / static_cast<Real>(1 - o.p) : Real(0);
            }
            const double bound = static_cast<double>(weight) * relative + smallest;
            weights[static_cast<std::size_t>(j)] = weight;
            weight_bounds[static_cast<std::size_t>(j)] = bound;
            for (Index c = 0; c < e; ++c) {
              const Real value = static_cast<Real>(x.v(b, kv, j, c));
              out[static_cast<std::size_t>(c)] += weight * value;
              out_bounds[static_cast<std::size_t>(c)] +=
                  (bound + static_cast<double>(weight) * static_cast<double>(s + 4) * u) *
                      std::abs(static_cast<double>(value)) +
                  smallest;
            }
          }
        }
        result.weights.insert(result.weights.end(), weights.begin(), weights.end());
        result.weight_bound.insert(result.weight_bound.end(), weight_bounds.begin(), weight_bounds.end());
        result.out.insert(result.out.end(), out.begin(), out.end());
        result.out_bound.insert(result.out_bound.end(), out_bounds.begin(), out_bounds.end());
        result.lse.push_back(lse);
        result.lse_bound.push_back(lse_bound);
      }
  return result;
}

/// The largest |actual − expected| / bound; infinite where the sizes differ or a value is NaN, infinite, or not exact
/// where the bound is 0.
template <class T, int R, class Expected, class Bound>
double worst(const heed::Tensor<T, R>& actual, const Expected& expected, const Bound& bound) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (static_cast<std::size_t>(actual.size()) != expected.size()) return wrong;
  double largest = 0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const T value = actual.data()[n];
    if (value == static_cast<T>(expected[n])) continue;  // both may be −inf
    const double error =
        static_cast<double>(std::abs(static_cast<long double>(value) - static_cast<long double>(expected[n])));
    const double ratio = error / bound[n];
    largest = ratio <= largest ? largest : (ratio < wrong ? ratio : wrong);
  }
  return largest;
}

}  // namespace support
