// expect: an executor must be callable .a temporary one when const. as executor.Index count, Task task.
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
int calls = 0;

#ifdef HEED_BAD
const auto out =
    heed::scaled_dot_product_attention(x, x, x, heed::on([n = 0](heed::Index, heed::Task) mutable { calls = ++n; }));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::on([](heed::Index, heed::Task) { ++calls; }));
#endif
