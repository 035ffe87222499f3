// expect: heed::alibi: slopes must have the scalar type of the tensors
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::alibi({1.0, 2.0}));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::alibi({1.0f, 2.0f}));
#endif
