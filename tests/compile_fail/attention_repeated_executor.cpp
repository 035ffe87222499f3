// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

const heed::Tensor<float, 3> x(2, 5, 3);
const auto executor = [](heed::Index count, heed::Task task) {
  while (count-- > 0) task(count);
};

#ifdef HEED_BAD
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::on(executor), heed::on(executor));
#else
const auto out = heed::scaled_dot_product_attention(x, x, x, heed::on(executor));
#endif
