// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::sliding_window(1, 0), heed::sliding_window(2, 0));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::sliding_window(1, 0));
#endif
