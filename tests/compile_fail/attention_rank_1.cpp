// expect: attention takes tensors of rank 2, 3 or 4
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 1> vector(5);
const heed::Tensor<float, 2> matrix(5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(vector, vector, vector);
#else
const auto out = heed::scaled_dot_product_attention(matrix, matrix, matrix);
#endif
