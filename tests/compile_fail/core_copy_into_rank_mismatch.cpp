// expect: heed::copy_into: both must have the same rank
#include <heed/core/transform.hpp>

int main() {
  heed::Tensor<float, 2> y(2, 3);
#ifdef HEED_BAD
  const heed::Tensor<float, 1> x(3);
  heed::copy_into(y, x);
#else
  const heed::Tensor<float, 2> x(2, 3);
  heed::copy_into(y, x);
#endif
}
