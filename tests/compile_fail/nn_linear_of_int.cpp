// expect: weights are float or double
#include <heed/heed.hpp>

void call(heed::Generator& rng) {
#ifdef HEED_BAD
  heed::Linear<int> linear(3, 2, true, rng);
#else
  heed::Linear<double> linear(3, 2, true, rng);
#endif
}
