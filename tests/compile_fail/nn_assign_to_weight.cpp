// expect: operator=|no viable overloaded '='|discards qualifiers|not assignable
#include <heed/heed.hpp>

void f(heed::MultiHeadAttention<>& attention, const heed::Tensor<float, 2>& weight) {
#ifdef HEED_BAD
  attention.W_query().weight() = weight;
#else
  heed::copy_into(attention.W_query().weight(), weight);
#endif
}
