// expect: heed::alibi: slopes are float or double
#include <heed/heed.hpp>

#include <array>

constexpr std::array<int, 2> whole{1, 2};
constexpr std::array<float, 2> slopes{1, 2};

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::alibi(whole));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::alibi(slopes));
#endif
