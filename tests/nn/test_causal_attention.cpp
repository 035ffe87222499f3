#include <heed/nn/causal_attention.hpp>

#include "catch.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

heed::CausalAttention<float> causal_module(double dropout = 0) {
  heed::Generator rng(11);
  heed::AttentionConfig config = small_config();
  config.dropout = dropout;
  return {config, rng};
}

}  // namespace

TEST_CASE("CausalAttention keeps what its config says", "[nn][causal_attention]") {
  const auto module = causal_module(0.25);
  CHECK(module.d_in() == 5);
  CHECK(module.d_out() == 6);
  CHECK(module.context_length() == 7);
  CHECK(module.dropout() == 0.25);
  CHECK(module.num_heads() == 1);
}

TEST_CASE("the weights of CausalAttention are exactly zero for later tokens and sum to one", "[nn][causal_attention]") {
  const auto module = causal_module();
  const auto weights = module.weights(random_tensor<float>(1, 2, 7, 5));
  REQUIRE(weights.shape() == heed::Shape(2, 1, 7, 7));
  for (Index b = 0; b < 2; ++b)
    for (Index i = 0; i < 7; ++i) {
      double sum = 0;
      bool right = true;
      for (Index j = 0; j < 7; ++j) {
        right = right && (j > i ? weights(b, 0, i, j) == 0 : weights(b, 0, i, j) > 0);
        sum += static_cast<double>(weights(b, 0, i, j));
      }
      CHECK(right);
      CHECK(std::abs(sum - 1) < 1e-6);
    }
  CHECK(weights(1, 0, 0, 0) == 1);
}

TEST_CASE("a token of CausalAttention does not know of later ones, be they NaN or infinite", "[nn][causal_attention]") {
  const auto module = causal_module();
  auto x = random_tensor<float>(1, 7, 5);
  const auto expected = module(x);
  for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 3e38F}) {
    for (Index c = 0; c < 5; ++c) x(5, c) = x(6, c) = poison;
    const auto y = module(x);
    CHECK(equal(heed::slice(y, 0, 0, 5), heed::slice(expected, 0, 0, 5)));
    CHECK_FALSE(equal(y[5], expected[5]));
  }
}

TEST_CASE("a shorter sentence gives the first rows of a longer one", "[nn][causal_attention]") {
  const auto module = causal_module();
  const auto x = random_tensor<float>(1, 7, 5);
  const auto y = module(x);
  for (Index t = 1; t < 7; ++t) CHECK(almost_equal(module(heed::slice(x, 0, 0, t)), heed::slice(y, 0, 0, t)));
}

TEST_CASE("CausalAttention takes as many tokens as context_length and no more", "[nn][causal_attention]") {
  const auto module = causal_module();
  CHECK(module(heed::Tensor<float, 2>(7, 5)).shape() == heed::Shape(7, 6));
  CHECK(says(shape_error_of([&] { module(heed::Tensor<float, 2>(8, 5)); }), "heed::CausalAttention", "x is ℝ^{8×5}",
             "context_length = 7"));
  CHECK(says(shape_error_of([&] { module.weights(heed::Tensor<float, 3>(2, 9, 5)); }), "heed::CausalAttention",
             "x is ℝ^{2×9×5}", "context_length = 7"));
}

TEMPLATE_TEST_CASE("dropout in CausalAttention is that of attention on the same queries, keys and values",
                   "[nn][causal_attention]", float, double) {
  using T = TestType;
  heed::Generator seed(11);
  const heed::CausalAttention<T> module(small_config(), seed);
  const auto x = random_tensor<T>(1, 3, 6, 5);
  const auto heads = [](const heed::Tensor<T, 3>& values) { return heed::copy(heed::split_heads(values, 1)); };
  const auto q = heads(module.W_query()(x)), k = heads(module.W_key()(x)), v = heads(module.W_value()(x));

  heed::Generator rng(5), again(5);
  const auto out = module(x, rng);
  CHECK(equal(
      out, heed::merge_heads(heed::scaled_dot_product_attention(q, k, v, heed::causal(), heed::dropout(0.5, again)))));
  CHECK(same_state(rng, again));
  CHECK(same_state(rng, advanced<double>(heed::Generator(5), 3 * 6 * 6)));
  CHECK_FALSE(equal(out, module(x)));

  const heed::Philox source{5, 3};
  heed::Philox philox = source;
  CHECK(equal(module(x, philox), heed::merge_heads(heed::scaled_dot_product_attention(q, k, v, heed::causal(),
                                                                                      heed::dropout(0.5, source)))));
  CHECK(same_state(philox, heed::Philox{5, 4}));

  heed::Generator for_weights(5), again_for_weights(5);
  CHECK(equal(module.weights(x, for_weights),
              heed::attention_weights(q, k, heed::causal(), heed::dropout(0.5, again_for_weights))));
  CHECK(same_state(for_weights, again_for_weights));
  philox = source;
  CHECK(equal(module.weights(x, philox), heed::attention_weights(q, k, heed::causal(), heed::dropout(0.5, source))));
  CHECK(philox.offset == 4);
}

TEST_CASE("a CausalAttention without dropout draws nothing", "[nn][causal_attention]") {
  const auto module = causal_module(0);
  const auto x = random_tensor<float>(1, 2, 6, 5);
  heed::Generator rng(5);
  CHECK(equal(module(x, rng), module(x)));
  CHECK(same_state(rng, heed::Generator(5)));
}

TEST_CASE("a CausalAttention that drops everything gives zeros", "[nn][causal_attention]") {
  const auto module = causal_module(1);
  const auto x = random_tensor<float>(1, 2, 6, 5);
  heed::Generator rng(5);
  CHECK(all_equal_to(module(x, rng), 0));
  CHECK(same_state(rng, heed::Generator(5)));
  heed::Philox philox{5, 0};
  CHECK(all_equal_to(module(x, philox), 0));
}

TEST_CASE("CausalAttention refuses a config with impossible numbers and draws nothing then", "[nn][causal_attention]") {
  const auto error = [](auto change) {
    heed::AttentionConfig config = small_config();
    change(config);
    return config_error_of<heed::CausalAttention<float>>(config);
  };
  CHECK(error([](auto&) {}) == "no error");
  CHECK(says(error([](auto& c) { c.d_in = 0; }), "heed::CausalAttention", "d_in", "got 0"));
  CHECK(says(error([](auto& c) { c.d_out = -6; }), "heed::CausalAttention", "d_out", "got -6"));
  CHECK(says(error([](auto& c) { c.context_length = 0; }), "heed::CausalAttention", "context_length", "got 0"));
  CHECK(says(error([](auto& c) { c.dropout = 1.5; }), "heed::CausalAttention", "dropout", "[0, 1]", "1.5"));
  CHECK(says(error([](auto& c) { c.dropout = -0.5; }), "heed::CausalAttention", "dropout", "-0.5"));
  CHECK(says(error([](auto& c) { c.dropout = std::numeric_limits<double>::quiet_NaN(); }), "dropout", "nan"));
  CHECK(error([](auto& c) { c.num_heads = 0; }) == "no error");  // it has no use for this one
}
