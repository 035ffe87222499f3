// expect: two options of one call repeat or contradict each other
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scale(1), heed::causal(), heed::scale(2));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scale(1), heed::causal());
#endif
