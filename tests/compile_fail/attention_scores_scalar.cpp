// expect: logsumexp, scores, final_scores and weights have the scalar type of the tensors
#include <heed/heed.hpp>

heed::Tensor<double, 3> wide(2, 5, 5);
heed::Tensor<float, 3> narrow(2, 5, 5);

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scores(wide));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scores(narrow));
#endif
