// expect: (no matching function.*call to|deleted function).*view
#include <heed/core/tensor_like.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const auto v = heed::view(heed::Tensor<float, 2>(x));
  static_cast<void>(v);
#else
  const auto v = heed::view(x);
  static_cast<void>(v);
#endif
}
