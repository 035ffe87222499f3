// A few queries against many keys: the kernel of every instruction set by itself, then what attention makes of it.
#include "catch.hpp"
#include "support/attention.hpp"
#include "support/kernels.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

using heed::Index;
using heed::InstructionSet;
using heed::Tensor;
using heed::TensorView;
using heed::kernels::FewQueriesTask;
using support::infinity;
using support::KernelProblem;
using support::same_bits;
using support::strided;

namespace {

/// The kernel FewQueries of one instruction set, its chunks backwards.
template <class T, class Kernel>
struct ByChunks {
  void operator()(const TensorView<T, 3>& out, const TensorView<const T, 3>& q, const TensorView<const T, 2>& k,
                  const TensorView<const T, 2>& v, const support::KernelRules<T>& rules) const {
    const Index heads = q.shape()[0], t = q.shape()[1], d = q.shape()[2], s = k.shape()[0], e = v.shape()[1];
    const FewQueriesTask<T> task{.q = strided(q),
                                 .q_head = q.strides()[0],
                                 .k = strided(k),
                                 .v = strided(v),
                                 .out = strided(out),
                                 .out_head = out.strides()[0],
                                 .heads = heads,
                                 .t = t,
                                 .s = s,
                                 .d = d,
                                 .e = e,
                                 .b = 0,
                                 .first_head = 0,
                                 .composition = &rules,
                                 .rules_of = support::KernelRules<T>::of_head};
    const Index chunks = (s + heed::kernels::few_queries_chunk - 1) / heed::kernels::few_queries_chunk,
                size = Kernel::partial_size(heads * t, e);
    Tensor<T, 1> partials = support::memory_of<T>(chunks * size);
    for (Index n = chunks - 1; n >= 0; --n) {
      Tensor<T, 1> scratch = support::memory_of<T>(Kernel::scratch_size(heads * t, d, e));
      Kernel::attend_chunk(task, n * heed::kernels::few_queries_chunk, partials.data() + n * size, scratch.data());
    }
    Kernel::finish(task, partials.data());
  }
};

/// Calls f(name, kernel) for each instruction set that this processor has.
template <class T, class F>
void each_kernel(const F& f) {
#if HEED_HAS_X86_REGIONS
  using heed::detail::detected_instruction_set;
  if (detected_instruction_set() >= InstructionSet::avx512)
    f("avx512", ByChunks<T, heed::kernels::avx512::FewQueries<T>>{});
  if (detected_instruction_set() >= InstructionSet::avx2) f("avx2", ByChunks<T, heed::kernels::avx2::FewQueries<T>>{});
#endif
  f("baseline", ByChunks<T, heed::kernels::baseline::FewQueries<T>>{});
}

}  // namespace

TEMPLATE_TEST_CASE("a few queries are right for every number of rows, keys and features", "[kernels][few_queries]",
                   float, double) {
  using T = TestType;
  const double close = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
  each_kernel<T>([&](const char* name, const auto& kernel) {
    CAPTURE(name);
    std::mt19937 rng(1);
    int count = 0;
    const auto check = [&](Index heads, Index t, Index s, Index d, Index e) {
      CAPTURE(heads, t, s, d, e, count);
      KernelProblem<T> problem(rng, heads, t, s, d, e);
      problem.rules.causal = count % 2 == 1;
      problem.rules.shift = s - t;
      problem.rules.hide = count % 3 == 2 ? 3 + count % 5 : 0;
      problem.rules.left = count % 5 == 3 ? s / 2 : problem.rules.left;
      problem.rules.dropped = count % 7 == 4 ? 4 : 0;
      if (count % 4 == 1)
        for (Index h = 0; h < heads; ++h) problem.rules.sinks.push_back(static_cast<T>(h) - 1);
      ++count;
      problem.compute(kernel);
      CHECK(problem.largest_error() <= close);
    };
    for (Index t = 1; t <= 8; ++t)
      for (const Index heads : {1, 2, 4, 8}) check(heads, t, 40 + t, 19, 21);
    for (Index s = 0; s <= 70; ++s) check(1 + s % 3, 1 + s % 4, s, 3, 2);
    for (const Index s : {255, 256, 257, 511, 512, 513, 767, 769, 1023, 1024, 1025, 1100}) {
      check(1, 1, s, 64, 64);
      check(1, 3, s, 16, 16);
      check(3, 2, s, 8, 5);
    }
    for (const Index d : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 80, 96, 128, 160, 256})
      for (const Index t : {1, 2, 4, 8}) {
        check(1, t, 37, d, 3);
        check(1, t, 37, 3, d);
      }
    check(2, 1, 1100, 128, 160);
    check(4, 8, 600, 256, 256);
  });
}

TEMPLATE_TEST_CASE("a few queries give equal bits for every layout and touch no gap", "[kernels][few_queries]", float,
                   double) {
  using T = TestType;
  const support::Layout<3> layouts[] = {
      {{0, 1, 2}, 1, 3}, {{1, 0, 2}}, {{2, 1, 0}}, {{0, 2, 1}, 2, 1}, {{0, 1, 2}, 1, 2, {true, true, true}}};
  const support::Layout<2> matrices[] = {
      {{0, 1}, 1, 3}, {{0, 1}, 1, 0, {true, false}}, {{1, 0}}, {{0, 1}, 2, 1}, {{1, 0}, 1, 2, {true, true}}};
  each_kernel<T>([&](const char* name, const auto& kernel) {
    CAPTURE(name);
    std::mt19937 rng(2);
    for (const Index size : {1, 7, 17, 40, 64})
      for (const Index t : {1, 3}) {
        KernelProblem<T> problem(rng, 2, t, 530, size, size + 3);
        const Tensor<T, 3> expected = problem.compute(kernel);
        for (std::size_t n = 0; n < std::size(layouts); ++n) {
          CAPTURE(size, t, n);
          support::LaidOut<T, 3> q(problem.q, layouts[n]), out(problem.out, layouts[n]);
          support::LaidOut<T, 2> k(problem.k, matrices[n]), v(problem.v, matrices[n]);
          for (Index i = 0; i < 2 * t * (size + 3); ++i) problem.out.data()[i] = 7;
          kernel(out.view(), q.view(), k.view(), v.view(), problem.rules);
          CHECK(same_bits(out.view(), expected));
          CHECK(out.gaps_are_untouched());
        }
      }
  });
}

TEMPLATE_TEST_CASE("what few queries do not see leaks nothing and changes no bit", "[kernels][few_queries]", float,
                   double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  each_kernel<T>([&](const char* name, const auto& kernel) {
    CAPTURE(name);
    for (const T poison : {Limits::quiet_NaN(), infinity<T>, -infinity<T>, Limits::max()})
      for (const Index s : {4, 16, 17, 33, 64, 512, 513, 530}) {
        CAPTURE(poison, s);
        std::mt19937 rng(3);
        KernelProblem<T> problem(rng, 2, 3, s, 20, 20);
        problem.rules.hide = s;  // hides the pairs with i + j + head = 0, s …
        problem.rules.causal = true;
        problem.rules.shift = s - 4;  // the last key is hidden from all
        const Tensor<T, 3> clean = problem.compute(kernel);
        const Tensor<T, 2> clean_lse = problem.lse;
        const auto poison_key = [&](Index j) {
          for (Index c = 0; c < 20; ++c) problem.k(j, c) = problem.v(j, c) = poison;
        };
        poison_key(s - 1);
        CHECK(same_bits(problem.compute(kernel), clean));
        CHECK(same_bits(problem.lse, clean_lse));
        poison_key(0);  // the first row does not see it, the others do
        problem.compute(kernel);
        CHECK(same_bits(problem.out[0][0], clean[0][0]));
        CHECK(problem.lse(0, 0) == clean_lse(0, 0));
        if (poison != poison) {
          for (Index i = 1; i < 3; ++i)
            for (Index c = 0; c < 20; ++c) CHECK(std::isnan(problem.out(0, i, c)));
        }
      }
  });
}

TEMPLATE_TEST_CASE("few queries show NaN in what they see, and give zeros where that is nothing",
                   "[kernels][few_queries]", float, double) {
  using T = TestType;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  each_kernel<T>([&](const char* name, const auto& kernel) {
    CAPTURE(name);
    for (const Index far : {0, 600}) {  // the second in another chunk
      CAPTURE(far);
      std::mt19937 rng(4);
      KernelProblem<T> problem(rng, 1, 8, far + 8, 20, 5);
      problem.rules.causal = true;
      problem.rules.shift = -3;  // the first three rows see nothing
      problem.k(1, 2) = nan;
      problem.compute(kernel);
      for (Index i = 0; i < 8; ++i) {
        CHECK(std::isnan(problem.lse(0, i)) == (i >= 4));
        if (i < 3) CHECK(problem.lse(0, i) == -infinity<T>);
        for (Index c = 0; c < 5; ++c) {
          if (i < 3) CHECK(support::bits(problem.out(0, i, c)) == 0);
          if (i == 3) CHECK(std::isfinite(problem.out(0, i, c)));
          if (i > 3) CHECK(std::isnan(problem.out(0, i, c)));
        }
      }
      problem.k(1, 2) = 0;
      problem.rules.shift = far - 3;
      problem.v(far + 2, 1) = nan;
      problem.compute(kernel);
      for (Index i = 0; i < 8; ++i)
        for (Index c = 0; c < 5; ++c) CHECK(std::isnan(problem.out(0, i, c)) == (c == 1 && i >= 5));
    }
  });
}

TEMPLATE_TEST_CASE("a score of few queries counts every feature once, infinite ones too", "[kernels][few_queries]",
                   float, double) {
  using T = TestType;
  each_kernel<T>([&](const char* name, const auto& kernel) {
    CAPTURE(name);
    for (Index c = 0; c < 23; ++c) {
      CAPTURE(c);
      std::mt19937 rng(6);
      KernelProblem<T> problem(rng, 1, 1, 20, 23, 5);
      problem.q.fill(1);
      problem.rules.causal = true;
      problem.rules.shift = 18;  // the last key is hidden
      const Tensor<T, 3> expected = problem.compute(kernel);
      problem.rules.causal = false;
      problem.k(19, c) = -infinity<T>;  // and now by its score
      CHECK(same_bits(problem.compute(kernel), expected));
    }
  });
}

TEMPLATE_TEST_CASE("few queries survive scores of any size, in one chunk or in several", "[kernels][few_queries]",
                   float, double) {
  using T = TestType;
  each_kernel<T>([&](const char* name, const auto& kernel) {
    CAPTURE(name);
    for (const Index winner : {3, 700}) {
      CAPTURE(winner);
      std::mt19937 rng(5);
      KernelProblem<T> problem(rng, 2, 2, 1100, 4, 6);
      problem.q.fill(100);
      for (Index j = 0; j < 1100; ++j)
        for (Index c = 0; c < 4; ++c) problem.k(j, c) = j == winner ? T(100) : T(-100);
      problem.compute(kernel);
      for (Index h = 0; h < 2; ++h)
        for (Index i = 0; i < 2; ++i) CHECK(same_bits(problem.out[h][i], problem.v[winner]));
      // A score beyond the largest number.
      problem.k.fill(std::numeric_limits<T>::max());
      problem.compute(kernel);
      for (Index i = 0; i < problem.out.size(); ++i) CHECK(std::isnan(problem.out.data()[i]));
      problem.q.fill(-100);  // all of −inf: nothing is seen
      problem.compute(kernel);
      CHECK(same_bits(problem.out, Tensor<T, 3>(2, 2, 6)));
      CHECK(problem.lse(1, 1) == -infinity<T>);
      // An infinite sink takes all the weight.
      problem.q.fill(0);
      problem.rules.sinks = {infinity<T>, 0};
      problem.compute(kernel);
      CHECK(same_bits(problem.out[0], Tensor<T, 2>(2, 6)));
      CHECK(problem.lse(0, 1) == infinity<T>);
      CHECK(std::isfinite(problem.lse(1, 1)));
      // One of NaN shows, but not where nothing is seen.
      problem.rules.sinks = {std::numeric_limits<T>::quiet_NaN(), 0};
      problem.rules.causal = true;
      problem.rules.shift = -1;
      problem.compute(kernel);
      for (Index c = 0; c < 6; ++c) {
        CHECK(support::bits(problem.out(0, 0, c)) == 0);
        CHECK(std::isnan(problem.out(0, 1, c)));
      }
      CHECK(std::isnan(problem.lse(0, 0)));
      problem.rules.sinks = {};
      problem.rules.causal = false;
    }
  });
}

namespace {

/// Backwards, from so many threads.
template <int threads>
void from_threads(Index count, heed::Task task) {
  std::atomic<Index> left{count};
  const auto work = [&] {
    for (Index n; (n = --left) >= 0;) task(n);
  };
  std::vector<std::thread> others;
  for (int n = 1; n < threads; ++n) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

template <class T>
struct Results {
  Tensor<T, 4> out;
  Tensor<T, 3> lse;
};

/// Many modifiers at once, of all kinds. `attend` is heed's or its reference's attention.
template <class T, class Attend>
Results<T> with_all(const support::Inputs<T>& x, const Attend& attend) {
  const Index b = x.q.shape()[0], h = x.q.shape()[1], t = x.q.shape()[2], s = x.k.shape()[2];
  std::mt19937 rng(6);
  const auto mask = support::random<bool>(rng, t, s);
  const auto bias = support::random<T>(rng, h, 1, s);
  std::vector<T> slopes(static_cast<std::size_t>(h)), sinks(static_cast<std::size_t>(h));
  for (std::size_t n = 0; n < slopes.size(); ++n) {
    slopes[n] = T(1) / static_cast<T>(n + 100);
    sinks[n] = static_cast<T>(n) / 2 - 1;
  }
  std::vector<Index> lengths(static_cast<std::size_t>(b), s);
  lengths.back() = s * 2 / 3;
  const auto mod = [](T score, Index, Index, Index i, Index j) { return (i + j) % 7 == 3 ? score - 1 : score; };
  Results<T> results{{}, Tensor<T, 3>(b, h, t)};
  results.out = attend(x.q, x.k, x.v, heed::scale(0.3), heed::bias(bias), heed::soft_cap(5), heed::score_mod(mod),
                       heed::alibi(slopes), heed::mask(mask), heed::causal_lower_right(), heed::key_lengths(lengths),
                       heed::sliding_window(700, 3), heed::sinks(sinks), heed::dropout(0.2, heed::Philox{1, 2}),
                       heed::logsumexp(results.lse));
  return results;
}

}  // namespace

TEMPLATE_TEST_CASE("attention of a few queries is the reference's", "[kernels][few_queries]", float, double) {
  using T = TestType;
  const auto fused = [](const auto&... x) { return heed::scaled_dot_product_attention(x...); };
  const auto plain = [](const auto&... x) { return heed::reference::scaled_dot_product_attention(x...); };
  std::mt19937 rng(7);
  for (const Index s : {0, 1, 15, 16, 17, 511, 512, 513, 1100})
    for (Index t = 1; t <= 9; ++t) {
      const Index g = t % 2 + 1, h = g * (Index{1} << (t / 2 % 4));
      CAPTURE(s, t, g, h);
      const auto x = support::random_inputs<T>({2, h, g, t, s, 24, 17}, rng);
      const auto actual = with_all(x, fused), expected = with_all(x, plain);
      CHECK(support::almost_same(actual.out, expected.out));
      CHECK(support::almost_same(actual.lse, expected.lse));
      CHECK(support::almost_same(fused(x.q, x.k, x.v), plain(x.q, x.k, x.v)));
    }
}

TEMPLATE_TEST_CASE("attention of a few queries has equal bits whoever runs it", "[kernels][few_queries]", float,
                   double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 6, 2, 3, 1300, 24, 17});
  const auto fused = [](const auto&... arguments) { return heed::scaled_dot_product_attention(arguments...); };
  const Results<T> expected = with_all(x, fused);
  const auto simple = fused(x.q, x.k, x.v);
  for (const heed::Executor executor : {from_threads<1>, from_threads<2>, from_threads<7>}) {
    const heed::Executor before = heed::set_executor(executor);
    const Results<T> actual = with_all(x, fused);
    const auto simple_again = fused(x.q, x.k, x.v);
    heed::set_executor(before);
    CHECK(same_bits(actual.out, expected.out));
    CHECK(same_bits(actual.lse, expected.lse));
    CHECK(same_bits(simple_again, simple));
  }
}
