# benchmark::benchmark_main (Google Benchmark): an installed one, else a download.
set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(BENCHMARK_INSTALL_DOCS OFF)
include(FetchContent)
FetchContent_Declare(
  benchmark
  GIT_REPOSITORY https://github.com/google/benchmark.git
  GIT_TAG v1.9.1
  GIT_SHALLOW ON
  SYSTEM
  FIND_PACKAGE_ARGS QUIET)
FetchContent_MakeAvailable(benchmark)
