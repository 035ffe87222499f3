#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/call_options.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>
#include <heed/core/generator.hpp>
#include <heed/nn/causal_attention.hpp>
#include <heed/nn/multi_head_attention.hpp>
#include <heed/nn/multi_head_attention_wrapper.hpp>
#include <heed/nn/self_attention_v1.hpp>
#include <heed/nn/self_attention_v2.hpp>

#include <atomic>
#include <functional>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>

using heed::Index;
using heed::Tensor;
using support::same_bits;

namespace {

/// Backwards, on a thread of its own; counts loops and parts. Not const, as a user's pool may be.
struct Backwards {
  int loops = 0;
  Index parts = 0;
  void operator()(Index count, heed::Task task) {
    ++loops;
    parts += count;
    std::thread([&] {
      for (Index n = count; n-- > 0;) task(n);
    }).join();
  }
};

int calls_of_set_executor = 0;
void counting(Index count, heed::Task task) {
  ++calls_of_set_executor;
  for (Index n = 0; n < count; ++n) task(n);
}

const support::Sizes sizes{2, 4, 2, 600, 9, 3, 5};  // two parts for each head

}  // namespace

TEMPLATE_TEST_CASE("a call takes its memory from the workspace it is given, and leaves it there",
                   "[attention][call_options]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>(sizes);
  const auto expected = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::causal());
  heed::release_workspace();
  heed::Workspace memory;
  CHECK(same_bits(
      heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(counting), heed::workspace(memory), heed::causal()),
      expected));
  const Index kept = memory.size();
  CHECK(kept > 0);
  CHECK(heed::detail::thread_workspace().size() == 0);
  Tensor<T, 4> out(x.q.shape()[0], x.q.shape()[1], x.q.shape()[2], x.v.shape()[3]);
  heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, heed::workspace(memory), heed::causal(),
                                          heed::on(counting));
  CHECK(same_bits(out, expected));
  CHECK(memory.size() == kept);  // no more of it
  memory.release();
  CHECK(memory.size() == 0);
  CHECK(
      same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::causal(), heed::workspace(memory)), expected));
}

TEST_CASE("without a workspace a call takes memory from the calling thread's, whoever computes",
          "[attention][call_options]") {
  const auto x = support::random_inputs<float>(sizes);
  heed::release_workspace();
  Index on_the_worker = -1;
  const auto elsewhere = [&](Index count, heed::Task task) {
    std::thread([&] {
      for (Index n = 0; n < count; ++n) task(n);
      on_the_worker = heed::detail::thread_workspace().size();
    }).join();
  };
  heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(elsewhere));
  CHECK(on_the_worker == 0);
  CHECK(heed::detail::thread_workspace().size() > 0);
  heed::release_workspace();
  CHECK(heed::detail::thread_workspace().size() == 0);
}

TEMPLATE_TEST_CASE("a call runs on the executor it is given and not on the program's", "[attention][call_options]",
                   float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>(sizes);
  const auto expected = heed::scaled_dot_product_attention(x.q, x.k, x.v);
  const heed::Executor before = heed::set_executor(counting);
  calls_of_set_executor = 0;
  Backwards pool;
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(pool)), expected));
  CHECK(pool.loops == 1);
  CHECK(pool.parts == 2 * 4 * 2);
  CHECK(calls_of_set_executor == 0);
  const std::function<void(Index, heed::Task)> wrapped = std::ref(pool);
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(wrapped)), expected));
  CHECK(pool.loops == 2);
  const heed::Executor pointer = counting;
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(pointer)), expected));
  CHECK(calls_of_set_executor == 1);
  const auto kept = heed::on([&pool](Index count, heed::Task task) { pool(count, task); });  // owns the function
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, kept), expected));
  CHECK(pool.loops == 3);
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v), expected));
  CHECK(calls_of_set_executor == 2);
  heed::set_executor(before);
}

TEST_CASE("an executor is not troubled with one part, nor with none", "[attention][call_options]") {
  const auto unwanted = [](Index, heed::Task) { throw std::logic_error("called"); };
  const auto one = support::random_inputs<float>({1, 1, 1, 3, 4, 2, 2});
  heed::scaled_dot_product_attention(one.q, one.k, one.v, heed::on(unwanted));
  const auto none = support::random_inputs<float>({0, 2, 2, 3, 4, 2, 2});
  heed::scaled_dot_product_attention(none.q, none.k, none.v, heed::on(unwanted));
}

TEST_CASE("everything that takes modifiers takes a workspace and an executor", "[attention][call_options]") {
  const auto x = support::random_inputs<float>({2, 2, 2, 5, 7, 3, 2});
  heed::Workspace memory;
  Backwards pool;
  CHECK(same_bits(heed::attention_weights(x.q, x.k, heed::workspace(memory), heed::causal(), heed::on(pool)),
                  heed::attention_weights(x.q, x.k, heed::causal())));
  CHECK(same_bits(heed::reference::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(pool), heed::workspace(memory)),
                  heed::reference::scaled_dot_product_attention(x.q, x.k, x.v)));
  CHECK(same_bits(heed::reference::attention_weights(x.q, x.k, heed::workspace(memory), heed::on(pool)),
                  heed::reference::attention_weights(x.q, x.k)));
}

TEMPLATE_TEST_CASE("the modules take a workspace and an executor", "[attention][nn][call_options]",
                   heed::SelfAttention_v1<float>, heed::SelfAttention_v2<double>, heed::CausalAttention<float>,
                   heed::MultiHeadAttentionWrapper<double>, heed::MultiHeadAttention<float>) {
  using T = typename TestType::value_type;
  heed::Generator rng(5);
  const TestType attention({.d_in = 3, .d_out = 4, .context_length = 300, .dropout = 0.5, .num_heads = 2}, rng);
  const Tensor<T, 3> x = heed::rand<T>(rng, 2, 300, 3);  // more than the kernel without threads takes
  heed::Workspace memory;
  Backwards pool;
  heed::Philox philox{1, 2};
  heed::Philox same_philox = philox;
  const auto expected = attention(x, philox, heed::key_lengths({300, 4}));
  heed::release_workspace();
  CHECK(same_bits(attention(x, heed::on(pool), same_philox, heed::workspace(memory), heed::key_lengths({300, 4})),
                  expected));
  CHECK(pool.loops == 1);
  CHECK(memory.size() > 0);
  CHECK(heed::detail::thread_workspace().size() == 0);
  Tensor<T, 3> out(expected.shape());
  attention.into(out, x, heed::workspace(memory));
  CHECK(same_bits(out, attention(x)));
  CHECK(same_bits(attention(x, x, heed::on(pool)), attention(x, x)));
  CHECK(same_bits(attention.weights(x, heed::on(pool), heed::workspace(memory)), attention.weights(x)));
}

TEST_CASE("what a part throws on another thread comes out of the call, and the next call is whole",
          "[attention][call_options]") {
  const auto x = support::random_inputs<float>(sizes);
  Backwards pool;
  heed::Workspace memory;
  const auto call = [&](bool fails) {
    const auto checked = [&](float score, Index b, Index h, Index i, Index) {
      if (fails && b == 1 && h == 2 && i == 550) throw std::bad_alloc();
      return score;
    };
    return heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::score_mod(checked), heed::on(pool),
                                              heed::workspace(memory));
  };
  const auto expected = call(false);
  const Index kept = memory.size();
  CHECK_THROWS_AS(call(true), std::bad_alloc);
  CHECK(memory.size() == kept);  // what was on loan is back
  CHECK(same_bits(call(false), expected));
}

TEST_CASE("an executor's own exception passes", "[attention][call_options]") {
  const auto x = support::random_inputs<float>(sizes);
  const auto failing = [](Index, heed::Task) { throw std::runtime_error("no threads"); };
  CHECK_THROWS_AS(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(failing)), std::runtime_error);
}

TEST_CASE("a user's function may call attention", "[attention][call_options]") {
  const auto x = support::random_inputs<float>({1, 2, 2, 5, 7, 3, 2});
  const auto inner = support::random_inputs<float>({2, 2, 1, 3, 3, 2, 1});
  const auto nested = [&](float score, auto...) {
    const auto out = heed::scaled_dot_product_attention(inner.q, inner.k, inner.v);
    return score + out(0, 0, 0, 0);
  };
  const float added = heed::scaled_dot_product_attention(inner.q, inner.k, inner.v)(0, 0, 0, 0);
  const auto plain = [&](float score, auto...) { return score + added; };
  const auto expected = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::score_mod(plain));
  CHECK(same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::score_mod(nested)), expected));
  Backwards pool;
  CHECK(
      same_bits(heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::on(pool), heed::score_mod(nested)), expected));
}
