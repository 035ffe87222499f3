#include <heed/nn/attention_module.hpp>

#include "catch.hpp"

#include <heed/nn/causal_attention.hpp>
#include <heed/nn/multi_head_attention.hpp>
#include <heed/nn/multi_head_attention_wrapper.hpp>
#include <heed/nn/self_attention_v1.hpp>
#include <heed/nn/self_attention_v2.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

// The four lines of a user, where only the name of the module changes: a macro, because no function takes that. Then
// the same in double.
#define HEED_TEST_PROGRAM(Module)                                                                               \
  [](const heed::Tensor<float, 3>& batch) {                                                                     \
    heed::AttentionConfig config{                                                                               \
        .d_in = 3, .d_out = 2, .context_length = 6, .dropout = 0.0, .num_heads = 2, .qkv_bias = false};         \
    heed::Generator rng(123);                                                                                   \
    heed::Module attention(config, rng);                                                                        \
    heed::Tensor<float, 3> context = attention(batch);                                                          \
    static_assert(same<decltype(attention), heed::Module<>> && same<decltype(attention), heed::Module<float>>); \
    static_assert(heed::AttentionModule<heed::Module<>> && heed::AttentionModule<heed::Module<double>>);        \
    heed::Module<double> precise(config, rng);                                                                  \
    static_assert(same<decltype(precise(heed::Tensor<double, 2>{})), heed::Tensor<double, 2>>);                 \
    std::vector<heed::Module<>> layers{attention};                                                              \
    return context.shape();                                                                                     \
  }

/// A module made of one part after the other of what the concept asks for, each left out or wrong in one near miss.
struct Good {
  using value_type = float;
  Good(const heed::AttentionConfig&, heed::Generator&) {}
  template <class X, class... O>
  heed::Tensor<float, heed::rank_of<X>> operator()(const X&, O&&...) const {
    return {};
  }
  template <class Out, class X>
  void into(Out&&, const X&) const {}
  template <class X>
  heed::Tensor<float, heed::rank_of<X> + 1> weights(const X&) const {
    return {};
  }
  std::vector<heed::Parameter<float>> parameters() { return {}; }
  std::vector<heed::Parameter<const float>> parameters() const { return {}; }
  Index d_in() const { return 1; }
  Index d_out() const { return 1; }
  Index num_heads() const { return 1; }
};

struct NotFromASeed : Good {
  explicit NotFromASeed(const heed::AttentionConfig& config, heed::Generator& rng, int) : Good(config, rng) {}
};

struct NotConst : Good {
  using Good::Good;
  template <class X, class... O>
  heed::Tensor<float, heed::rank_of<X>> operator()(const X&, O&&...) {
    return {};
  }
};

struct OfOneRank : Good {
  using Good::Good;
  template <class X, class... O>
  heed::Tensor<float, 2> operator()(const X&, O&&...) const {
    return {};
  }
};

struct WithoutRandomSource : Good {
  using Good::Good;
  template <class X>
  heed::Tensor<float, heed::rank_of<X>> operator()(const X&) const {
    return {};
  }
};

struct WithoutHeadsInItsWeights : Good {
  using Good::Good;
  template <class X>
  heed::Tensor<float, heed::rank_of<X>> weights(const X&) const {
    return {};
  }
};

struct WithoutInto : Good {
  using Good::Good;
  void into() const {}
};

struct WithoutConstParameters : Good {
  using Good::Good;
  std::vector<heed::Parameter<float>> parameters() const { return {}; }
};

struct CountingInInt : Good {
  using Good::Good;
  int num_heads() const { return 1; }
};

struct NotCopyable : Good {
  using Good::Good;
  NotCopyable(const NotCopyable&) = delete;
};

}  // namespace

TEST_CASE("the same four lines work with each module", "[nn][attention_module]") {
  const auto x = random_tensor<float>(1, 2, 6, 3);
  CHECK(HEED_TEST_PROGRAM(SelfAttention_v1)(x) == heed::Shape(2, 6, 2));
  CHECK(HEED_TEST_PROGRAM(SelfAttention_v2)(x) == heed::Shape(2, 6, 2));
  CHECK(HEED_TEST_PROGRAM(CausalAttention)(x) == heed::Shape(2, 6, 2));
  CHECK(HEED_TEST_PROGRAM(MultiHeadAttentionWrapper)(x) == heed::Shape(2, 6, 4));
  CHECK(HEED_TEST_PROGRAM(MultiHeadAttention)(x) == heed::Shape(2, 6, 2));
}

TEST_CASE("AttentionModule takes what works like one and nothing less", "[nn][attention_module]") {
  STATIC_REQUIRE(heed::AttentionModule<Good>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<NotFromASeed>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<NotConst>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<OfOneRank>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<WithoutRandomSource>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<WithoutHeadsInItsWeights>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<WithoutInto>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<WithoutConstParameters>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<CountingInInt>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<NotCopyable>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<int>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<heed::Linear<float>>);
  STATIC_REQUIRE_FALSE(heed::AttentionModule<heed::MultiHeadAttention<float>&>);
}

TEST_CASE("a function may ask for an AttentionModule", "[nn][attention_module]") {
  const auto count = [](heed::AttentionModule auto& module) {
    std::size_t numbers = 0;
    for (const auto& parameter : module.parameters()) numbers += parameter.value.size();
    return numbers;
  };
  heed::Generator rng(1);
  heed::SelfAttention_v1 v1(small_config(), rng);
  const heed::MultiHeadAttention multi_head(small_config(), rng);
  CHECK(count(v1) == 3 * 30);
  heed::MultiHeadAttention<> copy = multi_head;
  CHECK(count(copy) == 3 * 36 + 42);
}
