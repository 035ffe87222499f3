#pragma once

#include <heed/kernels/kernels.hpp>

// The kernels are compiled in kernels_once.cpp alone: half of the time that a test file would take.
namespace heed::kernels {
extern template KernelTable<float> kernel_table<float>();
extern template KernelTable<double> kernel_table<double>();
}  // namespace heed::kernels
