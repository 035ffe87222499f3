#pragma once

/// The version of heed, the compiler settings it cannot work under, and the name of those it was compiled with.
/// Included before everything else.

#define HEED_VERSION_MAJOR 0
#define HEED_VERSION_MINOR 1
#define HEED_VERSION_PATCH 0

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "heed needs C++20: compile with -std=c++20 or newer"
#endif

// -ffast-math lets the compiler assume that no value is NaN or infinite. Masked scores are -inf and rows that see
// nothing have a log-sum-exp of -inf, so results would silently be wrong (Clang folds every test for them away).
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "heed needs NaN and infinity: compile with -fno-finite-math-only after -ffast-math (or -Ofast)"
#endif

/// HEED_FLAGS names the inline namespace of all that is compiled, after the settings that show in the result. One
/// program may have files compiled with and without -march=native; of two functions of one name the linker keeps
/// either, so that a file for every processor could get the code for one. Types that files hand to each other (Tensor,
/// views, errors …) and what is there once a program (error handler, executor, workspaces) stand outside; their members
/// are always inlined. For Eigen's and the standard library's functions nothing of the kind is promised.
#if defined(__AVX512FP16__)
#define HEED_FLAGS_SIMD _avx512_fp16
#elif defined(__AVX512VBMI__)
#define HEED_FLAGS_SIMD _avx512_vbmi
#elif defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define HEED_FLAGS_SIMD _avx512
#elif defined(__AVX512F__)
#define HEED_FLAGS_SIMD _avx512f
#elif defined(__AVX2__) && defined(__FMA__)
#define HEED_FLAGS_SIMD _avx2
#elif defined(__AVX2__)
#define HEED_FLAGS_SIMD _avx2_without_fma
#elif defined(__AVX__) && defined(__FMA__)
#define HEED_FLAGS_SIMD _avx_fma
#elif defined(__AVX__)
#define HEED_FLAGS_SIMD _avx
#elif defined(__SSE4_2__)
#define HEED_FLAGS_SIMD _sse4_2
#elif defined(__SSE4_1__)
#define HEED_FLAGS_SIMD _sse4_1
#elif defined(__SSSE3__)
#define HEED_FLAGS_SIMD _ssse3
#elif defined(__SSE3__)
#define HEED_FLAGS_SIMD _sse3
#elif defined(__ARM_FEATURE_SVE)
#define HEED_FLAGS_SIMD _sve
#else
#define HEED_FLAGS_SIMD _plain
#endif
#ifdef _OPENMP
#define HEED_FLAGS_OPENMP _openmp
#else
#define HEED_FLAGS_OPENMP
#endif
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define HEED_HAS_EXCEPTIONS 1
#define HEED_FLAGS_EXCEPTIONS
#else
#define HEED_HAS_EXCEPTIONS 0
#define HEED_FLAGS_EXCEPTIONS _no_exceptions
#endif
#define HEED_FLAGS_PASTE(simd, openmp, exceptions) flags##simd##openmp##exceptions
#define HEED_FLAGS_JOIN(simd, openmp, exceptions) HEED_FLAGS_PASTE(simd, openmp, exceptions)
#define HEED_FLAGS HEED_FLAGS_JOIN(HEED_FLAGS_SIMD, HEED_FLAGS_OPENMP, HEED_FLAGS_EXCEPTIONS)
