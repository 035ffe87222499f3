// expect: the output is read-only
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<float, 3> read_only(2, 5, 3);
heed::Tensor<float, 3> out(2, 5, 3);

#ifdef HEED_BAD
void attend() { heed::scaled_dot_product_attention_into(read_only, x, x, x); }
#else
void attend() { heed::scaled_dot_product_attention_into(out, x, x, x); }
#endif
