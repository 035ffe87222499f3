// expect: deleted (function|constructor).*Tensor<
#include <heed/core/tensor.hpp>

int main() {
#ifdef HEED_BAD
  const heed::Tensor<float, 2> x{2, 3};
  static_cast<void>(x);
#else
  const heed::Tensor<float, 2> x(2, 3);
  static_cast<void>(x);
#endif
}
