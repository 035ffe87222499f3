// expect: q, k, v and out must have the same rank
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Tensor<float, 2> matrix(5, 3);
heed::Tensor<float, 3> out(2, 5, 3);

#ifdef HEED_BAD
void attend() { heed::scaled_dot_product_attention_into(matrix, x, x, x); }
#else
void attend() { heed::scaled_dot_product_attention_into(out, x, x, x); }
#endif
