// expect: a Philox draws for up to four coordinates
#include <heed/heed.hpp>

void call(const heed::Dropout<float>& dropout, const heed::Tensor<float, 5>& x, heed::Philox& philox) {
#ifdef HEED_BAD
  dropout(x, philox);
#else
  dropout(x[0], philox);
#endif
}
