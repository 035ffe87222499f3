// expect: the output is read-only
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          heed::Tensor<float, 3>& out) {
#ifdef HEED_BAD
  const auto& constant = out;
  attention.into(constant, x);
#else
  attention.into(out, x);
#endif
}
