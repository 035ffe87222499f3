// expect: the output is read-only
#include <heed/heed.hpp>

const heed::Tensor<float, 3> fixed(2, 5, 5);
heed::Tensor<float, 3> written(2, 5, 5);

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scores(fixed));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::scores(written));
#endif
