// What these cores could compute at most: a loop of independent fused multiply-adds in registers.
#pragma once

#include "threads.hpp"
#include "timing.hpp"

#include <heed/kernels/instruction_set.hpp>

#include <vector>

namespace bench {

#if HEED_HAS_X86_REGIONS
typedef float Floats16 __attribute__((vector_size(64)));
typedef float Floats8 __attribute__((vector_size(32)));
#endif
typedef float Floats4 __attribute__((vector_size(16)));

// Twelve chains: each result is needed four cycles later, and at most two are begun in a cycle. The empty asm keeps the
// compiler from seeing through a step.
#define HEED_BENCH_CHAINS(V)                                                                                         \
  V a0 = V{} + x, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0, b0 = a0, b1 = a0; \
  const V m = V{} + 0.999f, c = V{} + 0.001f;                                                                        \
  for (long n = 0; n < rounds; ++n) {                                                                                \
    a0 = a0 * m + c, a1 = a1 * m + c, a2 = a2 * m + c, a3 = a3 * m + c, a4 = a4 * m + c, a5 = a5 * m + c;            \
    a6 = a6 * m + c, a7 = a7 * m + c, a8 = a8 * m + c, a9 = a9 * m + c, b0 = b0 * m + c, b1 = b1 * m + c;            \
    asm volatile(""                                                                                                  \
                 : HEED_BENCH_VECTOR(a0), HEED_BENCH_VECTOR(a1), HEED_BENCH_VECTOR(a2), HEED_BENCH_VECTOR(a3),       \
                   HEED_BENCH_VECTOR(a4), HEED_BENCH_VECTOR(a5), HEED_BENCH_VECTOR(a6), HEED_BENCH_VECTOR(a7),       \
                   HEED_BENCH_VECTOR(a8), HEED_BENCH_VECTOR(a9), HEED_BENCH_VECTOR(b0), HEED_BENCH_VECTOR(b1));      \
  }                                                                                                                  \
  const V sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + b0 + b1;                                           \
  return sum[0] + sum[1]

#if HEED_HAS_X86_REGIONS
#define HEED_BENCH_VECTOR(v) "+v"(v)
__attribute__((target("avx512f,fma"), noinline)) inline float fma_chains_avx512(float x, long rounds) {
  HEED_BENCH_CHAINS(Floats16);
}
__attribute__((target("avx2,fma"), noinline)) inline float fma_chains_avx2(float x, long rounds) {
  HEED_BENCH_CHAINS(Floats8);
}
#undef HEED_BENCH_VECTOR
#define HEED_BENCH_VECTOR(v) "+x"(v)
#else
#define HEED_BENCH_VECTOR(v) "+w"(v)
#endif
__attribute__((noinline)) inline float fma_chains_baseline(float x, long rounds) { HEED_BENCH_CHAINS(Floats4); }
#undef HEED_BENCH_VECTOR
#undef HEED_BENCH_CHAINS

inline const char* instruction_set_name() {
  switch (heed::instruction_set()) {
    case heed::InstructionSet::avx512:
      return "avx512";
    case heed::InstructionSet::avx2:
      return "avx2";
    default:
      return "baseline";
  }
}

/// GFLOP/s in float of all threads together, with the instruction set that the kernels use: the median of 20 loops of
/// half a millisecond.
inline double fma_peak() {
  constexpr long rounds = 200000;
  volatile float seed = 1;
  double width = 4;
  float (*chains)(float, long) = fma_chains_baseline;
#if HEED_HAS_X86_REGIONS
  if (heed::instruction_set() == heed::InstructionSet::avx512) {
    width = 16;
    chains = fma_chains_avx512;
  } else if (heed::instruction_set() == heed::InstructionSet::avx2) {
    width = 8;
    chains = fma_chains_avx2;
  }
#endif
  // Each thread has a clock of its own: where others want the cores too, waiting for the last one would count.
  double total = 0;
  on_each_thread([&](int) {
    std::vector<double> taken(20);
    for (double& one : taken) one = seconds([&] { [[maybe_unused]] volatile float result = chains(seed, rounds); });
    const double rate = 2 * 12 * width * static_cast<double>(rounds) / median(taken) * 1e-9;
#ifdef _OPENMP
#pragma omp atomic
#endif
    total += rate;
  });
  return total;
}

}  // namespace bench
