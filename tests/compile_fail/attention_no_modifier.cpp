// expect: no matching function for call to .*scaled_dot_product_attention
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Generator rng(1);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, rng);
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::dropout(0.5, rng));
#endif
