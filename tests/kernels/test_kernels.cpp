// The kernels of every instruction set that this processor has, by themselves.
#include "catch.hpp"
#include "support/tensors.hpp"

#include <heed/kernels/kernels.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using heed::Index;
using heed::InstructionSet;
using heed::kernels::HeadRules;
using heed::kernels::HeadTask;
using heed::kernels::KeyRun;

namespace {

/// Keys j < i + 1 + shift, of which every `hide`th is hidden pair by pair.
template <class T>
struct Masks {
  Index s;
  bool causal = false;
  Index shift = 0;
  Index hide = 0;

  bool hides(Index i, Index j) const { return hide > 0 && (i + j) % hide == 0; }
  Index end(Index i) const { return causal ? std::min(s, i + 1 + shift) : s; }

  HeadRules<T> rules(T scale) const {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const auto keys = [](const HeadRules<T>& rules, Index i) {
      return KeyRun{0, static_cast<const Masks*>(rules.composition)->end(i)};
    };
    const auto edit = [](const HeadRules<T>& rules, T* scores, Index i, Index j, Index n) {
      for (Index k = 0; k < n; ++k)
        if (static_cast<const Masks*>(rules.composition)->hides(i, j + k)) scores[k] = -infinity;
    };
    return {this, 0, 0, s, 0, scale, -infinity, 0, keys, nullptr, edit, nullptr, nullptr, nullptr};
  }
};

/// A kernel of one instruction set: that of small problems, where they are, or the one with tiles.
template <class Set>
struct Kernel {
  const char* set;
  bool takes_small;

  template <class T>
  void operator()(const HeadTask<T>& task, const HeadRules<T>& rules) const {
    const Index t = task.end_query - task.first_query;
    if (takes_small && heed::kernels::is_small(t, task.s, task.d, task.e)) return Set::attend_small(task, rules);
    // No more memory than the kernel says it needs: ASan watches.
    heed::Tensor<T, 1> memory(Set::template scratch_size<T>(t, task.d, task.e));
    memory.fill(std::numeric_limits<T>::quiet_NaN());
    Set::attend_rows(task, rules, memory.data());
  }
};

/// Calls f(kernel) for the kernels of each instruction set.
template <class F>
void each_kernel(const F& f) {
  using heed::detail::detected_instruction_set;
  for (const bool small : {false, true}) {
#if HEED_HAS_X86_REGIONS
    if (detected_instruction_set() >= InstructionSet::avx512)
      f(Kernel<heed::kernels::avx512::Kernels>{"avx512", small});
    if (detected_instruction_set() >= InstructionSet::avx2) f(Kernel<heed::kernels::avx2::Kernels>{"avx2", small});
#endif
    f(Kernel<heed::kernels::baseline::Kernels>{"baseline", small});
  }
}

template <class T>
struct Problem {
  heed::Tensor<T, 2> q, k, v, out;
  Masks<T> rules;
  T scale;

  Problem(std::mt19937& rng, Index t, Index s, Index d, Index e)
      : q(support::random<T>(rng, t, d)),
        k(support::random<T>(rng, s, d)),
        v(support::random<T>(rng, s, e)),
        out(t, e),
        rules{s} {
    scale = static_cast<T>(1 / std::sqrt(static_cast<double>(d)));
  }

  template <class Set>
  const heed::Tensor<T, 2>& compute(const Kernel<Set>& kernel) {
    const Index t = q.shape()[0], d = q.shape()[1], e = v.shape()[1];
    const HeadTask<T> task{
        {q.data(), d, 1}, {k.data(), d, 1}, {v.data(), e, 1}, {out.data(), e, 1}, 0, t, k.shape()[0], d, e};
    out.fill(7);
    kernel(task, rules.rules(scale));
    return out;
  }

  double largest_error() const {
    double largest = 0;
    for (Index i = 0; i < q.shape()[0]; ++i) {
      std::vector<double> scores;
      std::vector<Index> seen;
      for (Index j = 0; j < rules.end(i); ++j) {
        if (rules.hides(i, j)) continue;
        double score = 0;
        for (Index c = 0; c < q.shape()[1]; ++c) score += static_cast<double>(q(i, c)) * static_cast<double>(k(j, c));
        scores.push_back(score * static_cast<double>(scale));
        seen.push_back(j);
      }
      const double most = seen.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& score : scores) sum += score = std::exp(score - most);
      for (Index c = 0; c < v.shape()[1]; ++c) {
        double expected = 0;
        for (std::size_t n = 0; n < seen.size(); ++n) expected += scores[n] / sum * static_cast<double>(v(seen[n], c));
        const double error = std::abs(static_cast<double>(out(i, c)) - expected);
        largest = error <= largest ? largest : error < 1e300 ? error : 1e300;
      }
    }
    return largest;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("a kernel is right for every number of rows and columns around its tiles", "[kernels]", float,
                   double) {
  using T = TestType;
  const double close = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
  each_kernel([&](const auto& kernel) {
    CAPTURE(kernel.set, kernel.takes_small);
    std::mt19937 rng(1);
    const auto check = [&](Index t, Index s, Index d, Index e, bool causal, Index hide) {
      CAPTURE(t, s, d, e, causal, hide);
      Problem<T> problem(rng, t, s, d, e);
      problem.rules.causal = causal;
      problem.rules.hide = hide;
      problem.compute(kernel);
      CHECK(problem.largest_error() <= close);
    };
    for (Index t = 1; t <= 30; ++t) check(t, 40, 5, 7, t % 2 == 0, t % 3);
    for (Index s = 0; s <= 70; ++s) check(5, s, 3, 2, s % 2 == 0, s % 4);
    for (const Index d : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 80}) {
      check(6, 37, d, 3, true, 0);
      check(6, 37, 3, d, true, 5);
    }
    for (const Index s : {255, 256, 257, 511, 512, 513, 1025}) check(17, s, 64, 64, false, 3);
    check(600, 600, 64, 16, true, 0);
    check(3, 1100, 128, 160, false, 2);
    check(2, 300, 256, 256, false, 0);
  });
}

TEMPLATE_TEST_CASE("what a kernel hides leaks nothing and changes no bit", "[kernels]", float, double) {
  using T = TestType;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  each_kernel([&](const auto& kernel) {
    CAPTURE(kernel.set, kernel.takes_small);
    for (const T poison : {nan, infinity, -infinity, std::numeric_limits<T>::max()})
      for (const Index s : {4, 16, 17, 33, 64, 530}) {
        CAPTURE(poison, s);
        std::mt19937 rng(2);
        Problem<T> problem(rng, 20, s, 8, 20);
        problem.rules.hide = 1 + s;  // hides the pairs with i + j = 0, s + 1 …
        problem.rules.causal = true;
        problem.rules.shift = s - 21;  // the last key is hidden from all
        const heed::Tensor<T, 2> clean = problem.compute(kernel);
        for (Index c = 0; c < 8; ++c) problem.k(s - 1, c) = poison;
        for (Index c = 0; c < 20; ++c) problem.v(s - 1, c) = poison;
        CHECK(support::same_bits(problem.compute(kernel), clean));
      }
  });
}

TEMPLATE_TEST_CASE("a kernel shows NaN in what is seen, and gives zeros where nothing is", "[kernels]", float, double) {
  using T = TestType;
  each_kernel([&](const auto& kernel) {
    CAPTURE(kernel.set, kernel.takes_small);
    std::mt19937 rng(3);
    Problem<T> problem(rng, 20, 20, 4, 5);
    problem.rules.causal = true;
    problem.rules.shift = -3;  // the first three rows see nothing
    problem.k(10, 2) = std::numeric_limits<T>::quiet_NaN();
    const auto& out = problem.compute(kernel);
    for (Index c = 0; c < 5; ++c) {
      for (Index i = 0; i < 3; ++i) CHECK(support::bits(out(i, c)) == 0);
      for (Index i = 3; i < 13; ++i) CHECK(std::isfinite(out(i, c)));
      for (Index i = 13; i < 20; ++i) CHECK(std::isnan(out(i, c)));
    }
    problem.k(10, 2) = 0;
    problem.v(7, 1) = std::numeric_limits<T>::quiet_NaN();
    problem.compute(kernel);
    for (Index i = 0; i < 20; ++i)
      for (Index c = 0; c < 5; ++c) CHECK(std::isnan(out(i, c)) == (c == 1 && i >= 10));
  });
}
