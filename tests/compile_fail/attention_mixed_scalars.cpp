// expect: q, k, v and out must have the same scalar type
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<double, 3> doubles(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, doubles, x);
#else
const auto out = heed::scaled_dot_product_attention(doubles, doubles, doubles);
#endif
