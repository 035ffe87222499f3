// expect: deleted (function|constructor|member function).*operator *\[\]|deleted operator .*\[\]
#include <heed/core/tensor.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const auto row = heed::Tensor<float, 2>(x)[0];
  static_cast<void>(row);
#else
  const auto row = x[0];
  static_cast<void>(row);
#endif
}
