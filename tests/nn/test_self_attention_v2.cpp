#include <heed/nn/self_attention_v2.hpp>

#include "catch.hpp"

#include <heed/nn/self_attention_v1.hpp>

#include <cmath>
#include <limits>

#include "support/modules.hpp"

using namespace module_tests;

TEST_CASE("SelfAttention_v2 projects by its transposed weights, which are out × in", "[nn][self_attention_v2]") {
  heed::Generator rng(1);
  heed::SelfAttention_v2<float> module({.d_in = 2, .d_out = 2}, rng);
  heed::copy_into(module.W_value().weight(), heed::Tensor<float, 2>{{1, 2}, {3, 4}});
  const heed::Tensor<float, 3> identity{{{1, 0}}, {{0, 1}}};
  CHECK(equal(module(identity), heed::Tensor<float, 3>{{{1, 3}}, {{2, 4}}}));
}

TEMPLATE_TEST_CASE("SelfAttention_v2 with transposed weights equals SelfAttention_v1", "[nn][self_attention_v2]", float,
                   double) {
  using T = TestType;
  heed::Generator rng(7);
  const heed::AttentionConfig config{.d_in = 5, .d_out = 4};
  const heed::SelfAttention_v1<T> v1(config, rng);
  heed::SelfAttention_v2<T> v2(config, rng);
  heed::copy_into(v2.W_query().weight(), heed::transpose(v1.W_query(), 0, 1));
  heed::copy_into(v2.W_key().weight(), heed::transpose(v1.W_key(), 0, 1));
  heed::copy_into(v2.W_value().weight(), heed::transpose(v1.W_value(), 0, 1));
  const auto x = random_tensor<T>(2, 2, 6, 5);
  CHECK(almost_equal(v1(x), v2(x)));
  CHECK(almost_equal(v1.weights(x), v2.weights(x)));
}

TEST_CASE("a bias of SelfAttention_v2 is added to queries, keys and values", "[nn][self_attention_v2]") {
  heed::Generator rng(7);
  heed::SelfAttention_v2<double> module({.d_in = 3, .d_out = 2, .qkv_bias = true}, rng);
  const auto x = random_tensor<double>(2, 4, 3);
  const auto q = module.W_query()(x), k = module.W_key()(x), v = module.W_value()(x);
  CHECK(equal(module(x), heed::scaled_dot_product_attention(q, k, v)));
  const auto before = module(x);
  module.W_value().bias()(1) += 10;  // weights sum to one
  auto expected = before;
  expected.matrix().col(1).array() += 10;
  CHECK(almost_equal(module(x), expected));
}

TEST_CASE("causal weights of SelfAttention_v2 are asked for by an option", "[nn][self_attention_v2]") {
  heed::Generator rng(789);
  const heed::SelfAttention_v2<float> module({.d_in = 3, .d_out = 2}, rng);
  const auto x = random_tensor<float>(2, 6, 3);
  const heed::Tensor<float, 3> full = module.weights(x);
  const heed::Tensor<float, 3> causal = module.weights(x, heed::causal());
  for (Index i = 0; i < 6; ++i) {
    float sum = 0;
    for (Index j = 0; j <= i; ++j) sum += full(0, i, j);
    for (Index j = 0; j < 6; ++j)
      CHECK((j > i ? causal(0, i, j) == 0.0F : std::abs(causal(0, i, j) - full(0, i, j) / sum) < 1e-6F));
  }
  CHECK(equal(module.weights(x, heed::causal_lower_right()), causal));
}

TEST_CASE("SelfAttention_v2 ignores the fields of the config that it does not use", "[nn][self_attention_v2]") {
  heed::Generator rng(4), again(4);
  const heed::SelfAttention_v2<float> plain({.d_in = 3, .d_out = 2, .qkv_bias = true}, rng);
  const heed::SelfAttention_v2<float> odd({.d_in = 3,
                                           .d_out = 2,
                                           .context_length = -5,
                                           .dropout = std::numeric_limits<double>::quiet_NaN(),
                                           .num_heads = 0,
                                           .qkv_bias = true},
                                          again);
  CHECK(same_state(rng, again));
  CHECK(odd.num_heads() == 1);
  const auto x = random_tensor<float>(1, 6, 3);
  CHECK(equal(plain(x), odd(x)));
  CHECK(equal(odd(x, rng), plain(x)));
}
