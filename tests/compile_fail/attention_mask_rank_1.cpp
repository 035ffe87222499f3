// expect: heed::mask: a mask has rank 2, 3 or 4
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<bool, 1> of_keys(5);
const heed::Tensor<bool, 2> of_pairs(1, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask(of_keys));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask(of_pairs));
#endif
