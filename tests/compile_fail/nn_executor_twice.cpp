// expect: two options of one call repeat or contradict each other
#include <heed/heed.hpp>

void call(const heed::MultiHeadAttention<float>& attention, const heed::Tensor<float, 3>& x, heed::Executor executor,
          heed::Workspace& memory) {
#ifdef HEED_BAD
  attention(x, heed::on(executor), heed::workspace(memory), heed::on(executor));
#else
  attention(x, heed::on(executor), heed::workspace(memory));
#endif
}
