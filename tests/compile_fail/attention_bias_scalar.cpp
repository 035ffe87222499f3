// expect: heed::bias: it must have the scalar type of the tensors
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<double, 2> doubles(5, 5);
const heed::Tensor<float, 2> floats(5, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::bias(doubles));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::bias(floats));
#endif
