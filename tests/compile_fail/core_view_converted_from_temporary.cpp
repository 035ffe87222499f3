// expect: deleted
#include <heed/core/tensor.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const heed::TensorView<const float, 2> v = heed::Tensor<float, 2>(2, 3);
  return x.size() == v.size() ? 0 : 1;
#else
  const heed::TensorView<const float, 2> v = x;
  return x.size() == v.size() ? 0 : 1;
#endif
}
