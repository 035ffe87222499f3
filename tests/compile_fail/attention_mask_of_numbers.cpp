// expect: heed::mask: a mask holds bool; numbers to add are a heed::bias
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<float, 2> numbers(5, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask(numbers));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::bias(numbers));
#endif
