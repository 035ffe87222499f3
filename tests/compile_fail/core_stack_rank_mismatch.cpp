// expect: heed::stack: all must have the same rank
#include <heed/core/transform.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const heed::Tensor<float, 3> y(1, 2, 3);
  const auto z = heed::stack(x, y);
#else
  const heed::Tensor<float, 2> y(2, 3);
  const auto z = heed::stack(x, y);
#endif
}
