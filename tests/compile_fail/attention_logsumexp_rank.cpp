// expect: logsumexp has the queries. rank less one
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Tensor<float, 3> of_rank_3(1, 2, 5);
heed::Tensor<float, 2> of_rank_2(2, 5);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(of_rank_3));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::logsumexp(of_rank_2));
#endif
