#pragma once

// What each of two files of one program does with heed. Both are attention.cpp, compiled with flags of their own.
#include <heed/heed.hpp>

#define HEED_TEST_DECLARE_FILE(name)                                                      \
  namespace name {                                                                        \
  heed::Tensor<double, 1> results(const heed::Tensor<float, 3>& x, heed::Generator& rng); \
  void refuse(const heed::TensorView<const float, 3>& x);                                 \
  heed::Executor replace_executor(heed::Executor executor);                               \
  heed::ErrorHandler replace_handler(heed::ErrorHandler handler);                         \
  heed::Workspace& workspace();                                                           \
  }
HEED_TEST_DECLARE_FILE(first)
#ifdef HEED_TEST_ONE_FILE
namespace second = first;
#else
HEED_TEST_DECLARE_FILE(second)
#endif
#undef HEED_TEST_DECLARE_FILE
