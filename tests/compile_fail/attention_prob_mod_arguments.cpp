// expect: heed::prob_mod: f must be callable
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::prob_mod([](float weight) { return weight; }));
#else
const auto out =
    heed::scaled_dot_product_attention(x, x, x, heed::prob_mod([](float weight, auto...) { return weight; }));
#endif
