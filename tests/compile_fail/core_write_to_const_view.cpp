// expect: read-only|cannot assign to return value because.*const
#include <heed/core/tensor_like.hpp>

int main() {
  heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const heed::TensorView<const float, 2> v = heed::view(x);
  v(0, 0) = 1;
#else
  const heed::TensorView<float, 2> v = heed::view(x);
  v(0, 0) = 1;
#endif
}
