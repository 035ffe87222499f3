// expect: YOU_ARE_TRYING_TO_WRITE_INTO_A_READ_ONLY_EXPRESSION|THIS_EXPRESSION_IS_NOT_A_LVALUE|read-only|no viable
// overloaded|no match for .operator=|cannot assign
#include <heed/core/tensor.hpp>

int main() {
  heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const auto& y = x;
  y.matrix() = Eigen::MatrixXf::Zero(2, 3);
#else
  auto& y = x;
  y.matrix() = Eigen::MatrixXf::Zero(2, 3);
#endif
}
