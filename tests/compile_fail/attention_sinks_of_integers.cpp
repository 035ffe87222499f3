// expect: heed::sinks: logits are float or double
#include <heed/heed.hpp>

#include <array>

constexpr std::array<int, 2> whole{1, 2};
constexpr std::array<float, 2> logits{1, 2};

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::sinks(whole));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::sinks(logits));
#endif
