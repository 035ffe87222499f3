// expect: the output is a temporary that owns its elements
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Tensor<float, 3> out(2, 5, 3);

#ifdef HEED_BAD
void attend() { heed::scaled_dot_product_attention_into(heed::Tensor<float, 3>(2, 5, 3), x, x, x); }
#else
void attend() { heed::scaled_dot_product_attention_into(heed::view(out), x, x, x); }
#endif
