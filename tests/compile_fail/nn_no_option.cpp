// expect: ModuleOption
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x) {
#ifdef HEED_BAD
  attention(x, 0.5);
#else
  attention(x, heed::scale(0.5));
#endif
}
