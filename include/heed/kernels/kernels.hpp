#pragma once

#include <heed/kernels/head_task.hpp>
#include <heed/kernels/instruction_set.hpp>

#include <utility>

// The kernels, once for each instruction set: the same files are read in a region of the compiler each, in which it may
// use that set, and in a namespace each. Nothing is included within a region but they, and they use nothing from
// outside but head_task.hpp and the numbers below. The last lines of region/all.inl are what is called.

#if defined(__clang__)
#define HEED_UNROLL _Pragma("unroll")
#define HEED_UNROLL_TWICE
#else
#define HEED_UNROLL _Pragma("GCC unroll 32")
#define HEED_UNROLL_TWICE _Pragma("GCC unroll 2")
#endif

namespace heed::kernels::inline HEED_FLAGS {

/// So many bytes of keys, and of values, are gone through together.
inline constexpr Index block_bytes = 128 * 1024;

/// Keys in a chunk of FewQueries: 1024 gain 3 % at most, 256 lose 4 %, and chunks are what threads share. The same for
/// every number of threads, as what is summed in which order decides the bits.
inline constexpr Index few_queries_chunk = 512;
/// Bytes between what FewQueries reads and what it fetches; 4096 and 16384 are no faster.
inline constexpr Index few_queries_ahead = 8192;

/// How many vectors the kernel of small problems has on the stack: 16 KiB of AVX-512.
inline constexpr Index small_room = 256;
/// How many pairs times features it may have, and those of one query: from here on the tiles are as fast.
inline constexpr Index small_work = 16 * 1024, small_query_work = 1024;

/// Whether a head is computed by the kernel of small problems.
inline bool is_small(Index t, Index s, Index d, Index e) {
  return s + d + e <= small_room && s * (d + e) <= small_query_work && t <= small_work / (s * (d + e) + 1);
}

}  // namespace heed::kernels

#if HEED_HAS_X86_REGIONS
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,prefer-vector-width=512")
#endif
#define HEED_VECTOR_BYTES 64
#define HEED_TILE_ROWS 14
namespace heed::kernels::avx512::inline HEED_FLAGS {
#include <heed/kernels/region/all.inl>
}  // namespace heed::kernels::avx512
#undef HEED_VECTOR_BYTES
#undef HEED_TILE_ROWS
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define HEED_VECTOR_BYTES 32
#define HEED_TILE_ROWS 6
namespace heed::kernels::avx2::inline HEED_FLAGS {
#include <heed/kernels/region/all.inl>
}  // namespace heed::kernels::avx2
#undef HEED_VECTOR_BYTES
#undef HEED_TILE_ROWS
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#define HEED_VECTOR_BYTES 16
#if defined(__aarch64__)
#define HEED_TILE_ROWS 10  // 20 sums, 2 vectors and 10 numbers fill the 32 registers; GCC 12 spills at 11
#else
#define HEED_TILE_ROWS 6
#endif
namespace heed::kernels::baseline::inline HEED_FLAGS {
#include <heed/kernels/region/all.inl>
}  // namespace heed::kernels::baseline
#undef HEED_VECTOR_BYTES
#undef HEED_TILE_ROWS
#undef HEED_UNROLL
#undef HEED_UNROLL_TWICE

namespace heed::kernels::inline HEED_FLAGS {

/// use(kernels) with those of the instruction set at hand.
template <class Use>
auto with_kernels(const Use& use) {
#if HEED_HAS_X86_REGIONS
  if (instruction_set() == InstructionSet::avx512) return use(avx512::Kernels{});
  if (instruction_set() == InstructionSet::avx2) return use(avx2::Kernels{});
#endif
  return use(baseline::Kernels{});
}

/// The kernels of one instruction set as functions: what calls them is compiled once.
template <class T>
struct KernelTable {
  Index (*scratch_size)(Index rows, Index d, Index e);
  void (*attend_rows)(const HeadTask<T>&, const HeadRules<T>&, T* memory);
  void (*attend_small)(const HeadTask<T>&, const HeadRules<T>&);
  Index (*few_partial_size)(Index rows, Index e);
  Index (*few_scratch_size)(Index rows, Index d, Index e);
  void (*few_attend_chunk)(const FewQueriesTask<T>&, Index begin, T* partial, T* memory);
  void (*few_finish)(const FewQueriesTask<T>&, T* partials);
};
template <class T, class Kernels>
KernelTable<T> table(Kernels) {
  using Few = typename Kernels::template Few<T>;
  return {Kernels::template scratch_size<T>,
          Kernels::template attend_rows<T>,
          Kernels::template attend_small<T>,
          Few::partial_size,
          Few::scratch_size,
          Few::attend_chunk,
          Few::finish};
}
/// Those of the instruction set at hand. Not inline: where it is declared `extern template`, no kernel is compiled.
template <class T>
KernelTable<T> kernel_table() {
  return with_kernels([](auto set) { return table<T>(set); });
}

}  // namespace heed::kernels
