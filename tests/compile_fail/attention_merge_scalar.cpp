// expect: heed::merge: all four have the same scalar type
#include <heed/heed.hpp>

const heed::Tensor<float, 3> out(2, 5, 3);
const heed::Tensor<float, 2> lse(2, 5);
const heed::Tensor<double, 2> wide(2, 5);

#ifdef HEED_BAD
const auto merged = heed::merge(out, lse, out, wide);
#else
const auto merged = heed::merge(out, lse, out, lse);
#endif
