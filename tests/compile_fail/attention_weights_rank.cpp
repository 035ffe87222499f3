// expect: scores, final_scores and weights have the queries. rank
#include <heed/heed.hpp>

heed::Tensor<float, 4> of_rank_4(1, 2, 5, 5);
heed::Tensor<float, 3> of_rank_3(2, 5, 5);

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::weights(of_rank_4));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::weights(of_rank_3));
#endif
