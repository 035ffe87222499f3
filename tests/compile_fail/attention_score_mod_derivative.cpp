// expect: heed::score_mod: df must be callable with the arguments of f
#include <heed/heed.hpp>

const auto same = [](float score, auto...) { return score; };

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::score_mod(same, [](float) { return 1.0f; }));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::score_mod(same, [](auto...) { return 1.0f; }));
#endif
