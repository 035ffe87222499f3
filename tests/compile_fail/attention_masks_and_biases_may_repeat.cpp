// expect: two options of one call repeat or contradict each other
#include <heed/attention/scaled_dot_product_attention.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const heed::Tensor<bool, 2> seen(5, 5);
const heed::Tensor<float, 2> numbers(5, 5);

#ifdef HEED_BAD
// The good twin is the point here; the bad one repeats what may not be repeated.
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask(seen), heed::bias(numbers), heed::scale(1),
                                                    heed::mask(seen), heed::bias(numbers), heed::scale(1));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::mask(seen), heed::bias(numbers), heed::scale(1),
                                                    heed::mask(seen), heed::bias(numbers));
#endif
