// expect: two options of one call repeat or contradict each other
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::causal(), heed::causal_lower_right());
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::causal_lower_right());
#endif
