// expect: deleted.*matrix
#include <heed/core/tensor.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const auto m = heed::Tensor<float, 2>(x).matrix();
  static_cast<void>(m);
#else
  const auto m = x.matrix();
  static_cast<void>(m);
#endif
}
