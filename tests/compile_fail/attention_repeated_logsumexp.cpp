// expect: two options of one call repeat or contradict each other
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Tensor<float, 2> first(2, 5);
heed::Tensor<float, 2> second(2, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(first), heed::logsumexp(second));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(first));
#endif
