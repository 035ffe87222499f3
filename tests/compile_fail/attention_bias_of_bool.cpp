// expect: heed::bias: a bias holds numbers; truth values are a heed::mask
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<bool, 2> seen(5, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::bias(seen));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask(seen));
#endif
