// heed on the threads of oneTBB (Debian: libtbb-dev), for the whole program or for one call:
//   g++ -std=c++20 -O2 -I include -I /usr/include/eigen3 examples/one_tbb.cpp -o one_tbb -ltbb
#include <heed/heed.hpp>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <iostream>

std::atomic<heed::Index> parts_on_tbb{0};

/// task(n) for every n below count, on the threads of oneTBB.
void on_tbb(heed::Index count, heed::Task task) {
  tbb::parallel_for(heed::Index{0}, count, [task](heed::Index n) {
    task(n);
    ++parts_on_tbb;
  });
}

int main() {
  heed::Generator rng(123);
  const heed::Tensor<float, 4> x = heed::rand<float>(rng, 2, 8, 700, 32);  // ℝ^{b×h×t×d}
  const auto alone = heed::scaled_dot_product_attention(x, x, x, heed::causal());

  heed::set_executor(on_tbb);  // from now on, everywhere
  const auto shared = heed::scaled_dot_product_attention(x, x, x, heed::causal());

  tbb::task_arena two_threads(2);
  const auto on_two_threads = [&](heed::Index count, heed::Task task) {
    two_threads.execute([&] { on_tbb(count, task); });
  };
  const auto by_two = heed::scaled_dot_product_attention(x, x, x, heed::causal(), heed::on(on_two_threads));

  heed::set_executor(nullptr);  // before the threads may end
  const auto same = [&](const heed::Tensor<float, 4>& out) {
    return std::equal(out.data(), out.data() + out.size(), alone.data());
  };
  const bool all_same = same(shared) && same(by_two);
  std::cout << alone[0][0] << (all_same ? "the same on one thread, two and all; " : "results differ; ") << parts_on_tbb
            << " parts on oneTBB\n";
  return all_same && parts_on_tbb > 0 ? 0 : 1;
}
