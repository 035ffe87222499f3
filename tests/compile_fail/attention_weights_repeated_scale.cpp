// expect: two options of one call repeat or contradict each other
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);

#ifdef HEED_BAD
const auto weights = heed::attention_weights(x, x, heed::scale(1), heed::scale(2));
#else
const auto weights = heed::attention_weights(x, x, heed::scale(1));
#endif
