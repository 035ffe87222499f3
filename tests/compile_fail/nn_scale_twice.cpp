// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x,
          heed::Tensor<bool, 2>& mask) {
#ifdef HEED_BAD
  attention(x, heed::scale(2), heed::mask(mask), heed::scale(3));
#else
  attention(x, heed::scale(2), heed::mask(mask), heed::mask(mask));
#endif
}
