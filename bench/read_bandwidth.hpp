// What these cores could read at most: a loop that sums memory, with the instruction set that the kernels use.
#pragma once

#include "threads.hpp"

#include <heed/kernels/instruction_set.hpp>

#include <cstddef>

namespace bench {

#if HEED_HAS_X86_REGIONS
typedef float ReadFloats16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef float ReadFloats8 __attribute__((vector_size(32), aligned(4), may_alias));
#endif
typedef float ReadFloats4 __attribute__((vector_size(16), aligned(4), may_alias));

// Four streams at once, a quarter each: more pages are fetched ahead than with one. What does not fill two vectors at
// the end of a quarter is not read.
#define HEED_BENCH_READ(V)                                                            \
  const std::size_t quarter = count / 4, steps = quarter * sizeof(float) / sizeof(V); \
  const V* const p0 = reinterpret_cast<const V*>(data);                               \
  const V* const p1 = reinterpret_cast<const V*>(data + quarter);                     \
  const V* const p2 = reinterpret_cast<const V*>(data + 2 * quarter);                 \
  const V* const p3 = reinterpret_cast<const V*>(data + 3 * quarter);                 \
  V a0 = V{}, a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;          \
  for (std::size_t n = 0; n + 2 <= steps; n += 2) {                                   \
    a0 += p0[n], a1 += p1[n], a2 += p2[n], a3 += p3[n];                               \
    b0 += p0[n + 1], b1 += p1[n + 1], b2 += p2[n + 1], b3 += p3[n + 1];               \
  }                                                                                   \
  const V sum = ((a0 + a1) + (a2 + a3)) + ((b0 + b1) + (b2 + b3));                    \
  return sum[0] + sum[1]

#if HEED_HAS_X86_REGIONS
__attribute__((target("avx512f"), noinline)) inline float read_avx512(const float* data, std::size_t count) {
  HEED_BENCH_READ(ReadFloats16);
}
__attribute__((target("avx2"), noinline)) inline float read_avx2(const float* data, std::size_t count) {
  HEED_BENCH_READ(ReadFloats8);
}
#endif
__attribute__((noinline)) inline float read_baseline(const float* data, std::size_t count) {
  HEED_BENCH_READ(ReadFloats4);
}
#undef HEED_BENCH_READ

/// Reads all of `data` once, every thread its part, in order.
inline void read_all(const float* data, std::size_t count) {
  const auto all_threads = static_cast<std::size_t>(threads());
  on_each_thread([&](int thread) {
    const std::size_t part = count / all_threads;
    const float* const from = data + static_cast<std::size_t>(thread) * part;
    [[maybe_unused]] volatile float result;
    switch (heed::instruction_set()) {
#if HEED_HAS_X86_REGIONS
      case heed::InstructionSet::avx512:
        result = read_avx512(from, part);
        break;
      case heed::InstructionSet::avx2:
        result = read_avx2(from, part);
        break;
#endif
      default:
        result = read_baseline(from, part);
    }
  });
}

}  // namespace bench
