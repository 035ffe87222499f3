// expect: heed::mask_mod: f must be callable
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask_mod([](auto i, auto j) { return i == j; }));
#else
const auto out =
    heed::scaled_dot_product_attention(x, x, x, heed::mask_mod([](auto, auto, auto i, auto j) { return i == j; }));
#endif
