// expect: heed::merge: lse_a and lse_b have the rank of out_a less one
#include <heed/heed.hpp>

const heed::Tensor<float, 3> out(2, 5, 3);
const heed::Tensor<float, 2> lse(2, 5);

#ifdef HEED_BAD
const auto merged = heed::merge(out, out, out, lse);
#else
const auto merged = heed::merge(out, lse, out, lse);
#endif
