// expect: x must have the scalar type of the module
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const Eigen::MatrixXd& x) {
#ifdef HEED_BAD
  attention(x);
#else
  attention(x.cast<float>().eval());
#endif
}
