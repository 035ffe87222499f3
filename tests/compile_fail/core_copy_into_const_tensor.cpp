// expect: the output is read-only
#include <heed/core/transform.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const heed::Tensor<float, 2> y(2, 3);
  heed::copy_into(y, x);
#else
  heed::Tensor<float, 2> y(2, 3);
  heed::copy_into(y, x);
#endif
}
