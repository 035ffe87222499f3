// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

void call(const heed::CausalAttention<float>& causal, const heed::SelfAttention_v2<float>& v2,
          const heed::Tensor<float, 3>& x) {
#ifdef HEED_BAD
  causal(x, heed::causal());
  v2(x);
#else
  causal(x);
  v2(x, heed::causal());
#endif
}
