// expect: heed::mask_mod: may_see must be callable
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const auto shows = [](auto, auto, auto i, auto j) { return i == j; };

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask_mod(shows, shows));
#else
const auto out = heed::scaled_dot_product_attention(
    x, x, x, heed::mask_mod(shows, [](auto, auto, auto i, auto, auto j, auto j_end) { return j <= i && i < j_end; }));
#endif
