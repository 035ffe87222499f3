// expect: operator=|no viable overloaded '='|discards qualifiers|not assignable
#include <heed/heed.hpp>

void f(heed::Tensor<float, 3>& batch, const heed::Tensor<float, 2>& tokens) {
#ifdef HEED_BAD
  batch[0] = tokens;
#else
  heed::copy_into(batch[0], tokens);
  batch[0].matrix() = tokens.matrix();
  auto first = batch[0];
  first = batch[1];
#endif
}
