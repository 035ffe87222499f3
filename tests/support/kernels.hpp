#pragma once

#include "tensors.hpp"

#include <heed/kernels/head_task.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace support {

using heed::Index;
using heed::Tensor;

// What tests of a kernel by itself need: rules of every kind, a problem, and its right answer.

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

/// Head `head` of a task. Keys first(i) ≤ j < i + 1 + shift, of which every `hide`th is hidden pair by pair and every
/// `dropped`th has no weight.
template <class T>
struct KernelRules {
  using HeadRules = heed::kernels::HeadRules<T>;
  using KeyRange = heed::kernels::KeyRange;
  static constexpr Index unlimited = Index{1} << 20;

  Index s;
  bool causal = false;
  Index shift = 0;
  Index left = unlimited;
  Index hide = 0;
  Index dropped = 0;
  T scale = 1;
  std::vector<T> sinks{};
  Tensor<T, 2>* lse = nullptr;  // ℝ^{heads×t}

  bool hides(Index head, Index i, Index j) const { return hide > 0 && (i + j + head) % hide == 0; }
  bool drops(Index head, Index i, Index j) const { return dropped > 0 && (i + 2 * j + head) % dropped == 0; }
  KeyRange keys(Index i) const {
    return {std::max(Index{0}, i + shift - left), causal ? std::min(s, i + 1 + shift) : s};
  }
  T sink(Index head) const { return sinks.empty() ? -infinity<T> : sinks[static_cast<std::size_t>(head)]; }

  static const KernelRules& of(const HeadRules& rules) { return *static_cast<const KernelRules*>(rules.composition); }
  static HeadRules of_head(const void* context, Index, Index head) {
    const KernelRules& all = *static_cast<const KernelRules*>(context);
    HeadRules rules{context, 0,         head,           all.s,
                    0,       all.scale, all.sink(head), all.sink(head) == -infinity<T> ? T(0) : T(1)};
    if (all.causal || all.left < unlimited)
      rules.keys = [](const HeadRules& head_rules, Index i) { return of(head_rules).keys(i); };
    if (all.hide > 0)
      rules.edit = [](const HeadRules& head_rules, T* scores, Index i, Index j, Index n) {
        for (Index k = 0; k < n; ++k)
          if (of(head_rules).hides(head_rules.h, i, j + k)) scores[k] = -infinity<T>;
      };
    if (all.dropped > 0)
      rules.drop = [](const HeadRules& head_rules, T* weights, Index i, Index j, Index n) {
        for (Index k = 0; k < n; ++k)
          if (!std::signbit(weights[k]) && of(head_rules).drops(head_rules.h, i, j + k)) weights[k] = 0;
      };
    if (all.lse != nullptr)
      rules.write_logsumexp = [](const HeadRules& head_rules, Index i, T largest, T sum) {
        (*of(head_rules).lse)(head_rules.h, i) = sum == 0 ? -infinity<T> : largest + std::log(sum);
      };
    return rules;
  }
};

/// As a kernel takes it: the last two axes.
template <class T, int R>
heed::kernels::Strided<T> strided(const heed::TensorView<T, R>& x) {
  return {x.data(), x.strides()[static_cast<std::size_t>(R) - 2], x.strides()[static_cast<std::size_t>(R) - 1]};
}

/// Memory of exactly so many T, so that ASan sees a step beyond; NaN, as nobody may rely on what is in it.
template <class T>
Tensor<T, 1> memory_of(Index count) {
  Tensor<T, 1> memory(count);
  memory.fill(std::numeric_limits<T>::quiet_NaN());
  return memory;
}

/// The queries of some heads that read one key head.
template <class T>
struct KernelProblem {
  Tensor<T, 3> q, out;
  Tensor<T, 2> k, v, lse;
  KernelRules<T> rules;

  KernelProblem(std::mt19937& rng, Index heads, Index t, Index s, Index d, Index e)
      : q(random<T>(rng, heads, t, d)),
        out(heads, t, e),
        k(random<T>(rng, s, d)),
        v(random<T>(rng, s, e)),
        lse(heads, t),
        rules{s} {
    rules.scale = static_cast<T>(1 / std::sqrt(static_cast<double>(d)));
  }

  /// Outputs of run(out, q, k, v, rules).
  template <class Run>
  const Tensor<T, 3>& compute(const Run& run) {
    out.fill(7);
    lse.fill(7);
    rules.lse = &lse;
    run(heed::view(out), heed::view(std::as_const(q)), heed::view(std::as_const(k)), heed::view(std::as_const(v)),
        rules);
    return out;
  }

  /// Of outputs and log-sum-exps.
  double largest_error() const {
    double largest = 0;
    const auto compare = [&](T actual, double expected) {
      if (static_cast<double>(actual) == expected) return;
      const double error = std::abs(static_cast<double>(actual) - expected);
      largest = error <= largest ? largest : error < 1e300 ? error : 1e300;
    };
    for (Index h = 0; h < q.shape()[0]; ++h)
      for (Index i = 0; i < q.shape()[1]; ++i) {
        std::vector<double> scores;
        std::vector<Index> seen;
        for (Index j = rules.keys(i).first; j < rules.keys(i).end; ++j) {
          if (rules.hides(h, i, j)) continue;
          double score = 0;
          for (Index c = 0; c < q.shape()[2]; ++c)
            score += static_cast<double>(q(h, i, c)) * static_cast<double>(k(j, c));
          scores.push_back(score * static_cast<double>(rules.scale));
          seen.push_back(j);
        }
        const double sink = static_cast<double>(rules.sink(h));
        double most = sink;
        for (const double score : scores) most = std::max(most, score);
        double sum = std::isfinite(sink) ? std::exp(sink - most) : 0;
        for (double& score : scores) sum += score = std::exp(score - most);
        compare(lse(h, i), sum == 0 ? -std::numeric_limits<double>::infinity() : most + std::log(sum));
        for (Index c = 0; c < v.shape()[1]; ++c) {
          double expected = 0;
          for (std::size_t n = 0; n < seen.size(); ++n)
            if (!rules.drops(h, i, seen[n])) expected += scores[n] / sum * static_cast<double>(v(seen[n], c));
          compare(out(h, i, c), expected);
        }
      }
    return largest;
  }
};

}  // namespace support
