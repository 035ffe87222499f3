// expect: heed::score_mod: f must be callable, when const
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(
    x, x, x, heed::score_mod([n = 0.0f](float score, auto...) mutable { return score + (n += 1); }));
#else
const auto out = heed::scaled_dot_product_attention(
    x, x, x, heed::score_mod([n = 0.0f](float score, auto...) { return score + n; }));
#endif
