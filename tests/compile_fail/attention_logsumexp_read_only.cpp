// expect: the output is read-only
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Tensor<float, 2> lse(2, 5);
const heed::Tensor<float, 2> read_only(2, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(read_only));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(lse));
#endif
