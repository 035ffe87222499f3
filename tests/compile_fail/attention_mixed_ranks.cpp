// expect: q, k, v and out must have the same rank
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<float, 2> matrix(5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, matrix, x);
#else
const auto out = heed::scaled_dot_product_attention(matrix, matrix, matrix);
#endif
