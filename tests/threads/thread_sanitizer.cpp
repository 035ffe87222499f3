// heed from several threads at once, compiled with -fsanitize=thread, which ends the program with an error where two
// threads race. With std::thread alone: GCC's OpenMP is not known to the sanitizer.
#include "support/report.hpp"
#include "support/threads.hpp"

#include <heed/attention/call_options.hpp>
#include <heed/core/generator.hpp>
#include <heed/nn/multi_head_attention.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using support::expect;

const support::Threads two_threads(2), three_threads(3);
void on_two_threads(heed::Index count, heed::Task task) { two_threads(count, task); }
void on_three_threads(heed::Index count, heed::Task task) { three_threads(count, task); }

/// f(n) on each of four threads at once.
template <class F>
void on_four_threads(const F& f) {
  std::atomic<int> waiting{4};
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      f(n);
    });
  for (auto& thread : threads) thread.join();
}

void functions() {
  // The first calls of the program are those at once: what is made once is made then.
  std::vector<std::vector<support::NamedResult<float>>> results(4);
  on_four_threads([&](int n) {
    heed::set_executor(n % 2 == 0 ? on_two_threads : nullptr);  // while others read it
    results[static_cast<std::size_t>(n)] = support::results_at_sizes<float>();
    heed::release_workspace();
  });
  heed::set_executor(nullptr);
  const auto expected = support::results_at_sizes<float>();
  for (const auto& result : results)
    support::expect_none(support::differing(result, expected), "other bits on one of four threads");
}

void a_workspace_for_all() {
  const auto x = support::random_inputs<double>({2, 4, 2, 30, 40, 8, 8});
  const auto expected = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::causal());
  heed::Workspace memory;
  std::atomic<int> different{0};
  on_four_threads([&](int n) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::causal(), heed::workspace(memory),
                                                          heed::on(on_three_threads));
      different += !support::same_bits(out, expected);
      if (repeat % 5 == n) memory.release();
      different += memory.size() < 0;
    }
  });
  expect(different == 0, "a shared workspace changes no bits");
}

void a_module_for_all() {
  heed::Generator rng(1);
  const heed::MultiHeadAttention attention(
      {.d_in = 8, .d_out = 8, .context_length = 20, .dropout = 0.1, .num_heads = 4}, rng);
  const auto x = heed::rand<float>(rng, 3, 20, 8);
  const auto expected = attention(x);
  const auto weights = attention.weights(x);
  const auto dropped = attention(x, heed::dropout(0.1, heed::Philox{1, 2}));
  heed::set_executor(on_two_threads);
  std::atomic<int> different{0};
  on_four_threads([&](int) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      heed::Philox philox{1, 2};
      different += !support::same_bits(attention(x), expected);
      different += !support::same_bits(attention.weights(x), weights);
      different += !support::same_bits(attention(x, philox), dropped);
    }
  });
  heed::set_executor(nullptr);
  expect(different == 0, "a shared module gives the bits of one alone");
}

void exceptions() {
  const auto x = support::random_inputs<float>({1, 8, 8, 10, 200, 3, 3});
  std::atomic<int> caught{0};
  on_four_threads([&](int) {
    const auto throwing = [](float score, heed::Index, heed::Index h, heed::Index, heed::Index) {
      if (h > 2) throw std::runtime_error("h > 2");
      return score;
    };
    try {
      heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::score_mod(throwing), heed::on(on_three_threads));
    } catch (const std::runtime_error&) {
      ++caught;
    }
  });
  expect(caught == 4, "exceptions of parts come out of their calls");
}

}  // namespace

int main() {
  functions();
  a_workspace_for_all();
  a_module_for_all();
  exceptions();
  return support::verdict();
}
