// expect: (no matching function.*call to|deleted function).*transpose
#include <heed/core/transform.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const auto v = heed::transpose(heed::Tensor<float, 2>(x), 0, 1);
  static_cast<void>(v);
#else
  const auto v = heed::transpose(x, 0, 1);
  static_cast<void>(v);
#endif
}
