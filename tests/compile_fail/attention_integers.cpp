// expect: attention computes in float or double
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<int, 2> integers(5, 3);
const heed::Tensor<float, 2> floats(5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(integers, integers, integers);
#else
const auto out = heed::scaled_dot_product_attention(floats, floats, floats);
#endif
