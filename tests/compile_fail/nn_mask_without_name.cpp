// expect: a mask goes into heed::mask
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          const heed::Tensor<bool, 2>& mask) {
#ifdef HEED_BAD
  attention(x, mask);
#else
  attention(x, heed::mask(mask));
#endif
}
