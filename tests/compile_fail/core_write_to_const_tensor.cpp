// expect: read-only|cannot assign to return value because.*const
#include <heed/core/tensor.hpp>

int main() {
  heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const auto& y = x;
  y(0, 0) = 1;
#else
  auto& y = x;
  y(0, 0) = 1;
#endif
}
