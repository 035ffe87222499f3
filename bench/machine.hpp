// What a printed result depends on.
#pragma once

#include "fma_peak.hpp"
#include "threads.hpp"

#include <benchmark/benchmark.h>
#include <Eigen/Core>

#include <string>

#ifndef HEED_BENCH_FLAGS
#define HEED_BENCH_FLAGS "unknown"
#endif

namespace bench {

inline std::string eigen_version() {
#ifdef EIGEN_VERSION_STRING  // since 5.0, whose EIGEN_WORLD_VERSION is still 3
  return EIGEN_VERSION_STRING;
#else
  return std::to_string(EIGEN_WORLD_VERSION) + '.' + std::to_string(EIGEN_MAJOR_VERSION) + '.' +
         std::to_string(EIGEN_MINOR_VERSION);
#endif
}

inline void describe_machine() {
  benchmark::AddCustomContext("Eigen", eigen_version());
  benchmark::AddCustomContext("Eigen SIMD", Eigen::SimdInstructionSetsInUse());
  benchmark::AddCustomContext("heed's kernels", instruction_set_name());
#ifdef __clang__
  benchmark::AddCustomContext("compiler", __VERSION__);
#else
  benchmark::AddCustomContext("compiler", "GCC " __VERSION__);
#endif
  benchmark::AddCustomContext("flags", HEED_BENCH_FLAGS);
#ifdef _OPENMP
  benchmark::AddCustomContext("threads", std::to_string(threads()) + " (OpenMP)");
#else
  benchmark::AddCustomContext("threads", "1 (no OpenMP)");
#endif
}

}  // namespace bench
