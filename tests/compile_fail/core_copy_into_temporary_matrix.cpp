// expect: the output is a temporary that owns its elements
#include <heed/core/transform.hpp>

int main() {
  const heed::Tensor<float, 2> x(2, 3);
  Eigen::MatrixXf y(2, 3);
#ifdef HEED_BAD
  heed::copy_into(Eigen::MatrixXf(y), x);
#else
  heed::copy_into(y, x);
#endif
}
