#include <heed/nn/multi_head_attention.hpp>

#include "catch.hpp"

#include <heed/nn/causal_attention.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

template <class T>
heed::MultiHeadAttention<T> multi_head(std::uint64_t seed = 31) {
  heed::Generator rng(seed);
  return {small_config(), rng};
}

}  // namespace

TEST_CASE("MultiHeadAttention keeps what its config says", "[nn][multi_head_attention]") {
  const auto module = multi_head<float>();
  CHECK(module.d_in() == 5);
  CHECK(module.d_out() == 6);
  CHECK(module.num_heads() == 3);
  CHECK(module.context_length() == 7);
  CHECK(module.dropout() == 0.5);
}

TEMPLATE_TEST_CASE("MultiHeadAttention draws query, key and value, then out_proj with its bias",
                   "[nn][multi_head_attention]", float, double) {
  using T = TestType;
  for (const bool bias : {true, false}) {
    heed::AttentionConfig config = small_config();
    config.qkv_bias = bias;
    heed::Generator rng(31), again(31);
    const heed::MultiHeadAttention<T> module(config, rng);
    const heed::Linear<T> query(5, 6, bias, again), key(5, 6, bias, again), value(5, 6, bias, again);
    const heed::Linear<T> out(6, 6, true, again);
    CHECK(equal(module.W_query().weight(), query.weight()));
    CHECK(equal(module.W_value().weight(), value.weight()));
    CHECK(equal(module.out_proj().weight(), out.weight()));
    CHECK(equal(module.out_proj().bias(), out.bias()));
    CHECK(same_state(rng, again));
  }
}

TEMPLATE_TEST_CASE("MultiHeadAttention is attention in heads between linear layers", "[nn][multi_head_attention]",
                   float, double) {
  using T = TestType;
  const auto module = multi_head<T>();
  const auto x = random_tensor<T>(1, 2, 6, 5);
  const auto heads = [](const heed::Tensor<T, 3>& values) { return heed::copy(heed::split_heads(values, 3)); };
  const auto q = heads(module.W_query()(x)), k = heads(module.W_key()(x)), v = heads(module.W_value()(x));
  CHECK(equal(module(x),
              module.out_proj()(heed::merge_heads(heed::scaled_dot_product_attention(q, k, v, heed::causal())))));
  CHECK(equal(module.weights(x), heed::attention_weights(q, k, heed::causal())));

  heed::Generator rng(5), again(5);
  CHECK(equal(module(x, rng), module.out_proj()(heed::merge_heads(heed::scaled_dot_product_attention(
                                  q, k, v, heed::causal(), heed::dropout(0.5, again))))));
  CHECK(same_state(rng, again));
  CHECK(same_state(rng, advanced<double>(heed::Generator(5), 2 * 3 * 6 * 6)));

  heed::Philox philox{5, 7};
  CHECK(equal(module(x, philox), module.out_proj()(heed::merge_heads(heed::scaled_dot_product_attention(
                                     q, k, v, heed::causal(), heed::dropout(0.5, heed::Philox{5, 7}))))));
  CHECK(same_state(philox, heed::Philox{5, 8}));
}

TEMPLATE_TEST_CASE("MultiHeadAttention with one head and an identity projection equals CausalAttention",
                   "[nn][multi_head_attention]", float, double) {
  using T = TestType;
  heed::AttentionConfig config = small_config();
  config.num_heads = 1;
  heed::Generator rng(31), again(31);
  heed::MultiHeadAttention<T> module(config, rng);
  const heed::CausalAttention<T> causal(config, again);
  module.out_proj().weight().matrix().setIdentity();
  for (Index i = 0; i < 6; ++i) module.out_proj().bias()(i) = 0;
  const auto x = random_tensor<T>(1, 2, 6, 5);
  CHECK(almost_equal(module(x), causal(x)));
  CHECK(almost_equal(module(x[1]), causal(x[1])));
  CHECK(equal(module.weights(x), causal.weights(x)));
  heed::Generator draws(8), same_draws(8);
  CHECK(almost_equal(module(x, draws), causal(x, same_draws)));
  CHECK(same_state(draws, same_draws));
  heed::Philox philox{8, 1}, same_philox{8, 1};
  CHECK(almost_equal(module(x, philox), causal(x, same_philox)));
}

TEST_CASE("out_proj mixes the heads and adds its bias", "[nn][multi_head_attention]") {
  auto module = multi_head<float>();
  const auto x = random_tensor<float>(1, 4, 5);
  module.out_proj().weight().matrix().setZero();
  for (Index i = 0; i < 6; ++i) module.out_proj().bias()(i) = static_cast<float>(i);
  const auto y = module(x);
  for (Index i = 0; i < 4; ++i) CHECK(equal(y[i], heed::Tensor<float, 1>{0, 1, 2, 3, 4, 5}));
}

TEST_CASE("the parameters of MultiHeadAttention have PyTorch's names, in its order", "[nn][multi_head_attention]") {
  auto module = multi_head<float>();
  const auto all = module.parameters();
  const char* const names[] = {"W_query.weight", "W_query.bias", "W_key.weight",    "W_key.bias",
                               "W_value.weight", "W_value.bias", "out_proj.weight", "out_proj.bias"};
  REQUIRE(all.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(all[i].name == names[i]);
    CHECK(all[i].grad.empty());
  }
  CHECK(all[0].shape == std::vector<Index>{6, 5});
  CHECK(all[6].shape == std::vector<Index>{6, 6});
  CHECK(all[7].shape == std::vector<Index>{6});
  CHECK(all[6].value.data() == module.out_proj().weight().data());
  all[7].value[2] = 42;
  CHECK(module.out_proj().bias()(2) == 42);
  STATIC_REQUIRE(same<decltype(std::as_const(module).parameters()), std::vector<heed::Parameter<const float>>>);
  CHECK(std::as_const(module).parameters()[7].value[2] == 42);

  heed::AttentionConfig config = small_config();
  config.qkv_bias = false;
  heed::Generator rng(1);
  const heed::MultiHeadAttention<float> plain(config, rng);
  const auto fewer = plain.parameters();
  REQUIRE(fewer.size() == 5);
  CHECK(fewer[2].name == "W_value.weight");
  CHECK(fewer[3].name == "out_proj.weight");
  CHECK(fewer[4].name == "out_proj.bias");
}

TEST_CASE("MultiHeadAttention refuses a config with impossible numbers and draws nothing then",
          "[nn][multi_head_attention]") {
  const auto error = [](auto change) {
    heed::AttentionConfig config = small_config();
    change(config);
    return config_error_of<heed::MultiHeadAttention<float>>(config);
  };
  CHECK(error([](auto&) {}) == "no error");
  CHECK(says(error([](auto& c) { c.d_in = -1; }), "heed::MultiHeadAttention", "d_in", "got -1"));
  CHECK(says(error([](auto& c) { c.d_out = 0; }), "heed::MultiHeadAttention", "d_out", "got 0"));
  CHECK(says(error([](auto& c) { c.context_length = -7; }), "heed::MultiHeadAttention", "context_length", "got -7"));
  CHECK(says(error([](auto& c) { c.num_heads = 0; }), "heed::MultiHeadAttention", "num_heads", "got 0"));
  CHECK(says(error([](auto& c) { c.num_heads = 4; }), "heed::MultiHeadAttention", "d_out 6", "num_heads 4"));
  CHECK(says(error([](auto& c) { c.num_heads = 7; }), "heed::MultiHeadAttention", "d_out 6", "num_heads 7"));
  CHECK(says(error([](auto& c) { c.dropout = -0.5; }), "heed::MultiHeadAttention", "dropout", "-0.5"));
}

TEST_CASE("MultiHeadAttention takes as many tokens as context_length and no more", "[nn][multi_head_attention]") {
  const auto module = multi_head<float>();
  CHECK(module(heed::Tensor<float, 3>(2, 7, 5)).shape() == heed::Shape(2, 7, 6));
  CHECK(says(shape_error_of([&] { module(heed::Tensor<float, 3>(2, 8, 5)); }), "heed::MultiHeadAttention",
             "x is ℝ^{2×8×5}", "context_length = 7"));
}

TEST_CASE("an out_proj that is replaced must keep its sizes", "[nn][multi_head_attention]") {
  auto module = multi_head<float>();
  const auto x = random_tensor<float>(1, 4, 5);
  heed::Generator rng(1);
  const heed::Linear<float> other(6, 6, false, rng), wide(6, 7, true, rng);
  const auto before = module(x);
  module.out_proj() = other;
  CHECK_FALSE(equal(module(x), before));
  CHECK(module.parameters().size() == 7);  // this one has no bias
  module.out_proj() = wide;
  CHECK(says(shape_error_of([&] { module(x); }), "heed::MultiHeadAttention", "out_proj is ℝ^{7×6}", "ℝ^{6×6}"));
}
