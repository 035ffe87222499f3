// expect: the output is a temporary that owns its elements
#include <heed/core/transform.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
  heed::Tensor<float, 2> y(2, 3);
#ifdef HEED_BAD
  heed::copy_into(heed::Tensor<float, 2>(y), x);
#else
  heed::copy_into(y, x);
#endif
}
