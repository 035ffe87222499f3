// expect: heed::key_lengths: lengths are integers
#include <heed/attention/scaled_dot_product_attention.hpp>

#include <vector>

const heed::Tensor<float, 3> x(2, 5, 3);
const std::vector<float> floats{5};
const std::vector<int> integers{5};

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::key_lengths(floats));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::key_lengths(integers));
#endif
