#include <heed/nn/query_key_value.hpp>

#include "catch.hpp"

#include <heed/nn/causal_attention.hpp>
#include <heed/nn/self_attention_v2.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

TEMPLATE_TEST_CASE("a module draws its query, key and value layers in this order", "[nn][query_key_value]",
                   heed::SelfAttention_v2<float>, heed::CausalAttention<double>) {
  using T = typename TestType::value_type;
  for (const bool bias : {true, false}) {
    heed::AttentionConfig config = small_config();
    config.qkv_bias = bias;
    heed::Generator rng(9);
    const TestType module(config, rng);
    heed::Generator again(9);
    const heed::Linear<T> query(5, 6, bias, again), key(5, 6, bias, again), value(5, 6, bias, again);
    CHECK(equal(module.W_query().weight(), query.weight()));
    CHECK(equal(module.W_key().weight(), key.weight()));
    CHECK(equal(module.W_value().weight(), value.weight()));
    CHECK(equal(module.W_query().bias(), query.bias()));
    CHECK(equal(module.W_key().bias(), key.bias()));
    CHECK(equal(module.W_value().bias(), value.bias()));
    CHECK(same_state(rng, again));
    CHECK(module.d_in() == 5);
    CHECK(module.d_out() == 6);
  }
}

TEST_CASE("the parameters of the three layers have PyTorch's names, in its order", "[nn][query_key_value]") {
  heed::Generator rng(9);
  heed::SelfAttention_v2<float> module(small_config(), rng);
  const auto all = module.parameters();
  const char* const names[] = {"W_query.weight", "W_query.bias",   "W_key.weight",
                               "W_key.bias",     "W_value.weight", "W_value.bias"};
  REQUIRE(all.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(all[i].name == names[i]);
    CHECK(all[i].shape == (i % 2 == 0 ? std::vector<Index>{6, 5} : std::vector<Index>{6}));
    CHECK(all[i].grad.empty());
  }
  CHECK(all[0].value.data() == module.W_query().weight().data());
  CHECK(all[3].value.data() == module.W_key().bias().data());
  CHECK(all[4].value.data() == module.W_value().weight().data());

  const auto& constant = module;
  STATIC_REQUIRE(same<decltype(std::as_const(module).parameters()), std::vector<heed::Parameter<const float>>>);
  CHECK(constant.parameters()[5].value.data() == module.W_value().bias().data());

  heed::SelfAttention_v2<float> plain({.d_in = 5, .d_out = 6}, rng);
  REQUIRE(plain.parameters().size() == 3);
  CHECK(plain.parameters()[1].name == "W_key.weight");
}

TEST_CASE("a module computes with the layers it hands out", "[nn][query_key_value]") {
  heed::Generator rng(9);
  heed::SelfAttention_v2<float> module({.d_in = 2, .d_out = 2}, rng);
  const heed::Tensor<float, 2> token{{3, 5}};
  // One token attends to itself: the result is its value.
  heed::copy_into(module.W_value().weight(), heed::Tensor<float, 2>{{1, 10}, {2, 100}});
  CHECK(equal(module(token), heed::Tensor<float, 2>{{53, 506}}));

  // A large query and key of the second token make every token look at it.
  const heed::Tensor<float, 2> tokens{{1, 0}, {0, 1}};
  module.W_query().weight().matrix().setConstant(100);
  heed::copy_into(module.W_key().weight(), heed::Tensor<float, 2>{{0, 1}, {0, 1}});
  CHECK(equal(module(tokens), heed::Tensor<float, 2>{{10, 100}, {10, 100}}));
  STATIC_REQUIRE(same<decltype(std::as_const(module).W_key()), const heed::Linear<float>&>);
}

TEST_CASE("a layer that is replaced must keep its sizes", "[nn][query_key_value]") {
  heed::Generator rng(9);
  heed::CausalAttention<float> module(small_config(), rng);
  const auto x = random_tensor<float>(1, 4, 5);
  const auto before = module(x);
  module.W_key() = heed::Linear<float>(5, 6, false, rng);
  CHECK_FALSE(equal(module(x), before));
  const heed::Generator drawn = rng;
  module.W_key() = heed::Linear<float>(6, 5, true, rng);
  rng = drawn;
  CHECK(says(shape_error_of([&] { module(x, rng); }), "heed::CausalAttention", "W_key is ℝ^{5×6}", "ℝ^{6×5}"));
  CHECK(says(shape_error_of([&] { module.weights(x, rng); }), "heed::CausalAttention", "W_key"));
  CHECK(same_state(rng, drawn));
}
