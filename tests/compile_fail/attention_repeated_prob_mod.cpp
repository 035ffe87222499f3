// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

const auto half = [](float weight, auto...) { return weight / 2; };

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::prob_mod(half), heed::prob_mod(half));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::prob_mod(half));
#endif
