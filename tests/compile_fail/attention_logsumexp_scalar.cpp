// expect: logsumexp, scores, final_scores and weights have the scalar type of the tensors
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Tensor<double, 2> doubles(2, 5);
heed::Tensor<float, 2> floats(2, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(doubles));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(floats));
#endif
