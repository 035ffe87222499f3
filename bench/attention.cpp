// How fast is attention, and how far from what the processor could do?
//
//     cmake --workflow --preset bench && OMP_NUM_THREADS=1 build/bench/bench/bench_attention
//
// --benchmark_filter=grid takes some only, --benchmark_repetitions=5 gives a median over runs. bench/peers/compare.py
// compares the same cells with other libraries.
//
//     grid      full and causal attention: GFLOP/s, and the share of the FMA peak
//     few       one query: GB/s of keys and values read once, and the share of the read bandwidth of the same memory
//     modifier  what a modifier costs: GFLOP/s over those of plain attention
//     window    the same for a window of 256 keys
//     small     a call that computes next to nothing
//     product   the product of heed's own tiles alone: no more than the FMA peak
//
// A rate is that of the median call (`best`: of the fastest), a peak the median of measurements made between the calls,
// since clocks vary. Operations are two a multiply-add of the two products, over visible pairs only; causal counts as
// half of full. Before a variant is timed its result on a small problem is compared with heed::reference; a wrong
// result ends in exit status 1.

#include "fma_peak.hpp"
#include "machine.hpp"
#include "read_bandwidth.hpp"
#include "threads.hpp"
#include "timing.hpp"
#include "variants.hpp"

#include <heed/heed.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using bench::Sizes;
using bench::Variant;
using heed::Index;

// b·h, t = s, d
constexpr Sizes grid[] = {{1, 12, 12, 128, 128, 64},   {1, 12, 12, 512, 512, 64}, {1, 12, 12, 1024, 1024, 64},
                          {1, 12, 12, 2048, 2048, 64}, {1, 8, 8, 4096, 4096, 64}, {1, 8, 8, 2048, 2048, 128},
                          {1, 16, 16, 64, 64, 32},     {1, 32, 32, 197, 197, 64}, {1, 4, 4, 1000, 1000, 80}};
constexpr Sizes one_query[] = {{1, 32, 32, 1, 4096, 128}, {1, 32, 8, 1, 4096, 128}};
constexpr Sizes modified{2, 6, 6, 2048, 2048, 64};  // two in a batch, for the key lengths
constexpr Sizes windowed{1, 8, 8, 4096, 4096, 64};

bool all_right = true;

// ---- problems

struct Problem {
  using Tensor = heed::Tensor<float, 4>;

  explicit Problem(const Sizes& given)
      : sizes(given),
        q(sizes.b, sizes.h, sizes.t, sizes.d),
        k(sizes.b, sizes.g, sizes.s, sizes.d),
        v(sizes.b, sizes.g, sizes.s, sizes.d),
        out(sizes.b, sizes.h, sizes.t, sizes.d),
        mask(sizes.t, sizes.s),
        bias(sizes.t, sizes.s) {
    std::mt19937 rng(1);
    std::normal_distribution<float> normal;
    for (auto* const x : {&q, &k, &v}) std::generate_n(x->data(), x->size(), [&] { return normal(rng); });
    std::generate_n(bias.data(), bias.size(), [&] { return normal(rng); });
    std::generate_n(mask.data(), mask.size(), [&] { return rng() % 2 == 0; });
    for (Index h = 0; h < sizes.h; ++h)
      slopes.push_back(std::exp2(-8 * static_cast<float>(h + 1) / static_cast<float>(sizes.h)));
    for (Index b = 0; b < sizes.b; ++b) lengths.push_back(b % 2 == 0 ? sizes.s : sizes.s / 2);
  }

  bench::Extras extras() const { return {mask.data(), bias.data(), slopes.data(), lengths.data()}; }

  void attend(Variant variant) {
    bench::with_variant(variant, sizes, extras(), [&](const auto&... modifiers) {
      heed::scaled_dot_product_attention_into(out, q, k, v, modifiers...);
    });
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }

  // Pairs of a query and a key it sees times 4·d; of a mask all pairs count.
  double operations(Variant variant) const {
    const auto t = static_cast<double>(sizes.t), s = static_cast<double>(sizes.s);
    const double heads = static_cast<double>(sizes.b * sizes.h);
    double pairs = heads * t * s;
    if (variant == Variant::causal) pairs /= 2;
    if (variant == Variant::key_lengths) {
      pairs = 0;
      for (const Index length : lengths) pairs += static_cast<double>(sizes.h) * t * static_cast<double>(length);
    }
    if (variant == Variant::window) {
      constexpr auto width = static_cast<double>(bench::window_keys);
      pairs = heads * (width * t - width * (width - 1) / 2);  // the first queries see fewer
    }
    return 4 * pairs * static_cast<double>(sizes.d);
  }

  Sizes sizes;
  Tensor q, k, v, out;  // ℝ^{b×h×t×d}, ℝ^{b×g×s×d} twice, ℝ^{b×h×t×d}
  heed::Tensor<bool, 2> mask;
  heed::Tensor<float, 2> bias;
  std::vector<float> slopes;
  std::vector<Index> lengths;
};

template <class Tensor>
bool is_same(benchmark::State& state, const Tensor& expected, const Tensor& actual) {
  bool is_near = true;
  for (Index n = 0; n < expected.size(); ++n)
    is_near = is_near && std::abs(expected.data()[n] - actual.data()[n]) <= 1e-5f;  // NaN is not
  if (is_near) return true;
  all_right = false;
  state.SkipWithError("the result is wrong");
  return false;
}

/// Compares a variant with the reference where nothing is a multiple of anything. A wrong result skips the benchmark.
bool is_right(benchmark::State& state, Variant variant, Index t = 37) {
  Problem problem({2, 6, 3, t, t == 1 ? 1100 : 301, 20});  // one query: chunks of keys to put together
  problem.attend(variant);
  Problem::Tensor expected = problem.out;
  bench::with_variant(variant, problem.sizes, problem.extras(), [&](const auto&... modifiers) {
    heed::reference::scaled_dot_product_attention_into(expected, problem.q, problem.k, problem.v, modifiers...);
  });
  return is_same(state, expected, problem.out);
}

// ---- timing

/// Times of one call, and of what is measured between the calls.
class Timed {
 public:
  /// Times call() for as long as the benchmark runs, and measures peak() before, after each 0.1 s, and at the end.
  template <class Call, class Peak>
  Timed(benchmark::State& state, const Call& call, const Peak& peak) {
    call();  // caches, memory and threads are there
    peaks_.push_back(peak());
    double since_peak = 0;
    for (auto _ : state) {
      if (since_peak > 0.1) {
        peaks_.push_back(peak());
        since_peak = 0;
      }
      calls_.push_back(bench::seconds(call));
      since_peak += calls_.back();
      state.SetIterationTime(calls_.back());
    }
    peaks_.push_back(peak());
  }

  double median() const { return bench::median(calls_); }
  double best() const { return bench::least(calls_); }
  double peak() const { return bench::median(peaks_); }

 private:
  std::vector<double> calls_, peaks_;
};

void grid_cell(benchmark::State& state, const Sizes& sizes, Variant variant) {
  if (!is_right(state, variant)) return;
  Problem problem(sizes);
  const Timed timed(
      state, [&] { problem.attend(variant); }, bench::fma_peak);
  const double gflop = problem.operations(variant) * 1e-9;
  state.counters["GFLOP/s"] = gflop / timed.median();
  state.counters["best"] = gflop / timed.best();
  state.counters["peak"] = timed.peak();
  state.counters["of_peak"] = gflop / timed.median() / timed.peak();
}

void few_cell(benchmark::State& state, const Sizes& sizes) {
  if (!is_right(state, Variant::plain, 1)) return;
  Problem problem(sizes);
  const auto count = static_cast<std::size_t>(problem.k.size());
  const double gigabytes = 2 * static_cast<double>(count * sizeof(float)) * 1e-9;
  const auto read = [&] {
    return bench::best_seconds(3, [&] {
      bench::read_all(problem.k.data(), count);
      bench::read_all(problem.v.data(), count);
    });
  };
  const Timed timed(
      state, [&] { problem.attend(Variant::plain); }, read);
  state.counters["GB/s"] = gigabytes / timed.median();
  state.counters["best"] = gigabytes / timed.best();
  state.counters["read"] = gigabytes / timed.peak();
  state.counters["of_read"] = timed.peak() / timed.median();
}

/// A variant in turn with plain attention.
void compared_cell(benchmark::State& state, const Sizes& sizes, Variant variant) {
  if (!is_right(state, variant)) return;
  Problem problem(sizes);
  const auto plain = [&] { return bench::seconds([&] { problem.attend(Variant::plain); }); };
  const Timed timed(
      state, [&] { problem.attend(variant); }, plain);
  const double gflop = problem.operations(variant) * 1e-9, gflop_plain = problem.operations(Variant::plain) * 1e-9;
  state.counters["GFLOP/s"] = gflop / timed.median();
  state.counters["of_plain"] = gflop / timed.median() / (gflop_plain / timed.peak());
  state.counters["times_faster"] = timed.peak() / timed.median();
}

template <class... Axis>
void small_call(benchmark::State& state, Axis... axis) {
  heed::Generator rng(1);
  const auto q = heed::rand<float>(rng, axis...), k = heed::rand<float>(rng, axis...),
             v = heed::rand<float>(rng, axis...);
  auto out = q;
  heed::scaled_dot_product_attention_into(out, q, k, v);
  if (!is_same(state, heed::reference::scaled_dot_product_attention(q, k, v), out)) return;
  for (auto _ : state) {
    heed::scaled_dot_product_attention_into(out, q, k, v);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}

// ---- heed's tiles: the one place here that knows how the kernels are built

/// Calls of the product q·kᵀ on what lies in the caches: ℝ^{rows×d} by packed keys ℝ^{d×n}.
template <int tile_rows, class Product>
double product_gflops(const Product& product) {
  constexpr Index n = 256, d = 64, repetitions = 100;
  std::vector<float> q(static_cast<std::size_t>(tile_rows * d), 0.5f), keys(static_cast<std::size_t>(n * d), 0.5f);
  std::vector<float> scores(static_cast<std::size_t>(tile_rows * n));
  const double taken = bench::best_seconds(10, [&] {
    for (Index r = 0; r < repetitions; ++r) {
      product(Index{tile_rows}, q.data(), keys.data(), n, d, scores.data(), n);
      benchmark::DoNotOptimize(scores.data());
      benchmark::ClobberMemory();
    }
  });
  return 2e-9 * static_cast<double>(tile_rows * n * d * repetitions) / taken;
}

double product_gflops() {
  namespace kernels = heed::kernels;
#if HEED_HAS_X86_REGIONS
  if (heed::instruction_set() == heed::InstructionSet::avx512)
    return product_gflops<kernels::avx512::tile_rows>([](auto... x) {
      kernels::avx512::Fetches none;
      kernels::avx512::score_rows<float>(x..., none);
    });
  if (heed::instruction_set() == heed::InstructionSet::avx2)
    return product_gflops<kernels::avx2::tile_rows>([](auto... x) {
      kernels::avx2::Fetches none;
      kernels::avx2::score_rows<float>(x..., none);
    });
#endif
  return product_gflops<kernels::baseline::tile_rows>([](auto... x) {
    kernels::baseline::Fetches none;
    kernels::baseline::score_rows<float>(x..., none);
  });
}

/// On one thread.
void product(benchmark::State& state) {
  const int threads = bench::threads();
  bench::set_threads(1);
  double best = 0, peak = 0;
  for (auto _ : state) {
    peak = std::max(peak, bench::fma_peak());
    best = std::max(best, product_gflops());
  }
  bench::set_threads(threads);
  state.counters["GFLOP/s"] = best;
  state.counters["peak"] = peak;
  state.counters["of_peak"] = best / peak;
}

// ---- names

std::string text(const Sizes& sizes) {
  return std::to_string(sizes.b * sizes.h) + 'x' + std::to_string(sizes.t) + 'x' + std::to_string(sizes.d);
}

template <class F>
void add(const std::string& name, benchmark::TimeUnit unit, const F& f) {
  benchmark::RegisterBenchmark(name.c_str(), f)->Unit(unit)->UseManualTime();
}

void add_all() {
  for (const Sizes& sizes : grid)
    for (const Variant variant : {Variant::plain, Variant::causal})
      add("grid/" + text(sizes) + '/' + bench::name_of(variant), benchmark::kMillisecond,
          [=](benchmark::State& state) { grid_cell(state, sizes, variant); });
  for (const Sizes& sizes : one_query)
    add("few/" + std::to_string(sizes.h) + "_on_" + std::to_string(sizes.g), benchmark::kMillisecond,
        [=](benchmark::State& state) { few_cell(state, sizes); });
  for (const Variant variant :
       {Variant::mask, Variant::bias, Variant::alibi, Variant::soft_cap, Variant::key_lengths, Variant::score_mod})
    add(std::string("modifier/") + bench::name_of(variant), benchmark::kMillisecond,
        [=](benchmark::State& state) { compared_cell(state, modified, variant); });
  add("window/" + std::to_string(bench::window_keys), benchmark::kMillisecond,
      [](benchmark::State& state) { compared_cell(state, windowed, Variant::window); });
  const auto rank_3 = [](benchmark::State& state) { small_call(state, 2, 6, 3); };
  const auto rank_4 = [](benchmark::State& state) { small_call(state, 2, 2, 6, 3); };
  benchmark::RegisterBenchmark("small/2x6x3", rank_3)->Unit(benchmark::kMicrosecond)->UseRealTime();
  benchmark::RegisterBenchmark("small/2x2x6x3", rank_4)->Unit(benchmark::kMicrosecond)->UseRealTime();
  benchmark::RegisterBenchmark("product", product)->Unit(benchmark::kMillisecond)->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  bench::describe_machine();
  add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return all_right ? 0 : 1;
}
