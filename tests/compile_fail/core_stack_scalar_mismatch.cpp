// expect: heed::stack: all must have the same scalar type
#include <heed/core/transform.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
#ifdef HEED_BAD
  const Eigen::MatrixXd y(2, 3);
  const auto z = heed::stack(x, y);
#else
  const Eigen::MatrixXf y(2, 3);
  const auto z = heed::stack(x, y);
#endif
}
