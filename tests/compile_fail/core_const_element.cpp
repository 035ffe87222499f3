// expect: the element type must not be const
#include <heed/core/tensor.hpp>

int main() {
#ifdef HEED_BAD
  heed::Tensor<const float, 2> x;
  static_cast<void>(x);
#else
  const heed::Tensor<float, 2> x;
  static_cast<void>(x);
#endif
}
