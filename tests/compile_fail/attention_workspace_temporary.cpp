// expect: non-const lvalue reference (to|of) type .heed::Workspace
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
heed::Workspace memory;

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::workspace(heed::Workspace()));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::workspace(memory));
#endif
