// The kernels of every instruction set that this processor has, by themselves.
#include "catch.hpp"
#include "support/kernels.hpp"
#include "support/tensors.hpp"

#include <heed/kernels/kernels.hpp>

#include <cmath>
#include <limits>
#include <random>

using heed::Index;
using heed::InstructionSet;
using heed::TensorView;
using heed::kernels::HeadRules;
using heed::kernels::HeadTask;
using support::KernelProblem;
using support::strided;

namespace {

/// A kernel of one instruction set: that of small problems, where they are, or the one with tiles.
template <class Set>
struct Kernel {
  const char* set;
  bool takes_small;

  template <class T>
  void operator()(const TensorView<T, 3>& out, const TensorView<const T, 3>& q, const TensorView<const T, 2>& k,
                  const TensorView<const T, 2>& v, const support::KernelRules<T>& rules) const {
    const Index t = q.shape()[1], s = k.shape()[0], d = q.shape()[2], e = v.shape()[1];
    const HeadTask<T> task{strided(q), strided(k), strided(v), strided(out), 0, t, s, d, e};
    const HeadRules<T> head_rules = support::KernelRules<T>::of_head(&rules, 0, 0);
    if (takes_small && heed::kernels::is_small(t, s, d, e)) return Set::attend_small(task, head_rules);
    heed::Tensor<T, 1> memory = support::memory_of<T>(Set::template scratch_size<T>(t, d, e));
    Set::attend_rows(task, head_rules, memory.data());
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
      KernelProblem<T> problem(rng, 1, t, s, d, e);
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
  constexpr T infinity = support::infinity<T>, nan = std::numeric_limits<T>::quiet_NaN();
  each_kernel([&](const auto& kernel) {
    CAPTURE(kernel.set, kernel.takes_small);
    for (const T poison : {nan, infinity, -infinity, std::numeric_limits<T>::max()})
      for (const Index s : {4, 16, 17, 33, 64, 530}) {
        CAPTURE(poison, s);
        std::mt19937 rng(2);
        KernelProblem<T> problem(rng, 1, 20, s, 8, 20);
        problem.rules.hide = 1 + s;  // hides the pairs with i + j = 0, s + 1 …
        problem.rules.causal = true;
        problem.rules.shift = s - 21;  // the last key is hidden from all
        const heed::Tensor<T, 3> clean = problem.compute(kernel);
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
    KernelProblem<T> problem(rng, 1, 20, 20, 4, 5);
    problem.rules.causal = true;
    problem.rules.shift = -3;  // the first three rows see nothing
    problem.k(10, 2) = std::numeric_limits<T>::quiet_NaN();
    const auto& out = problem.compute(kernel);
    for (Index c = 0; c < 5; ++c) {
      for (Index i = 0; i < 3; ++i) CHECK(support::bits(out(0, i, c)) == 0);
      for (Index i = 3; i < 13; ++i) CHECK(std::isfinite(out(0, i, c)));
      for (Index i = 13; i < 20; ++i) CHECK(std::isnan(out(0, i, c)));
    }
    problem.k(10, 2) = 0;
    problem.rules.sinks = {std::numeric_limits<T>::quiet_NaN()};
    problem.compute(kernel);
    for (Index c = 0; c < 5; ++c)
      for (Index i = 0; i < 20; ++i) CHECK((i < 3 ? support::bits(out(0, i, c)) == 0 : std::isnan(out(0, i, c))));
    problem.rules.sinks = {};
    problem.v(7, 1) = std::numeric_limits<T>::quiet_NaN();
    problem.compute(kernel);
    for (Index i = 0; i < 20; ++i)
      for (Index c = 0; c < 5; ++c) CHECK(std::isnan(out(0, i, c)) == (c == 1 && i >= 10));
  });
}
