// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

heed::Tensor<float, 3> a(2, 5, 5), b(2, 5, 5);

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scores(a), heed::scores(b));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scores(a), heed::final_scores(b));
#endif
