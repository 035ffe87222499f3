#include "kernels_once.hpp"

namespace heed::kernels {
template KernelTable<float> kernel_table<float>();
template KernelTable<double> kernel_table<double>();
}  // namespace heed::kernels
