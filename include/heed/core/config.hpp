#pragma once

/// The version of heed, and the compiler settings it cannot work under. Included before everything else.

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
