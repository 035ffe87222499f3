#include <heed/nn/multi_head_attention_wrapper.hpp>

#include "catch.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

/// A wrapper, and the same heads as modules of their own.
template <class T>
struct Both {
  heed::MultiHeadAttentionWrapper<T> wrapper;
  std::vector<heed::CausalAttention<T>> heads;
};

template <class T>
Both<T> wrapper_and_heads(bool bias = true) {
  heed::AttentionConfig config = small_config();
  config.qkv_bias = bias;
  heed::Generator rng(21), again(21);
  Both<T> both{heed::MultiHeadAttentionWrapper<T>(config, rng), {}};
  for (int h = 0; h < 3; ++h) both.heads.emplace_back(config, again);
  REQUIRE(same_state(rng, again));
  return both;
}

}  // namespace

TEST_CASE("MultiHeadAttentionWrapper puts heads of d_out side by side", "[nn][multi_head_attention_wrapper]") {
  const auto both = wrapper_and_heads<float>();
  CHECK(both.wrapper.d_in() == 5);
  CHECK(both.wrapper.d_out() == 18);
  CHECK(both.wrapper.num_heads() == 3);
  CHECK(both.wrapper.context_length() == 7);
  CHECK(both.wrapper.dropout() == 0.5);
}

TEMPLATE_TEST_CASE("the heads of MultiHeadAttentionWrapper equal separate CausalAttentions",
                   "[nn][multi_head_attention_wrapper]", float, double) {
  using T = TestType;
  for (const bool bias : {true, false}) {
    const auto both = wrapper_and_heads<T>(bias);
    const auto x = random_tensor<T>(1, 3, 6, 5);
    const auto out = both.wrapper(x);
    const auto weights = both.wrapper.weights(x);
    const auto of_sentence = both.wrapper(x[1]);
    REQUIRE(out.shape() == heed::Shape(3, 6, 18));
    REQUIRE(weights.shape() == heed::Shape(3, 3, 6, 6));
    for (Index h = 0; h < 3; ++h) {
      const auto& head = both.heads[static_cast<std::size_t>(h)];
      CHECK(equal(heed::slice(out, 2, 6 * h, 6 * h + 6), head(x)));
      CHECK(equal(heed::slice(of_sentence, 1, 6 * h, 6 * h + 6), head(x[1])));
      CHECK(equal(heed::slice(weights, 1, h, h + 1), head.weights(x)));
    }
  }
}

TEST_CASE("a Generator drops in MultiHeadAttentionWrapper as in one head called after the other",
          "[nn][multi_head_attention_wrapper]") {
  const auto both = wrapper_and_heads<float>();
  const auto x = random_tensor<float>(1, 3, 6, 5);
  heed::Generator rng(4), again(4), for_weights(4), again_for_weights(4);
  const auto out = both.wrapper(x, rng);
  const auto weights = both.wrapper.weights(x, for_weights);
  for (Index h = 0; h < 3; ++h) {
    const auto& head = both.heads[static_cast<std::size_t>(h)];
    CHECK(equal(heed::slice(out, 2, 6 * h, 6 * h + 6), head(x, again)));
    CHECK(equal(heed::slice(weights, 1, h, h + 1), head.weights(x, again_for_weights)));
  }
  CHECK(same_state(rng, again));
  CHECK(same_state(for_weights, again_for_weights));
  CHECK(same_state(rng, advanced<double>(heed::Generator(4), 3 * 3 * 6 * 6)));
}

TEST_CASE("a Philox drops in MultiHeadAttentionWrapper by the number of the head",
          "[nn][multi_head_attention_wrapper]") {
  const auto both = wrapper_and_heads<float>();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  heed::Philox philox{4, 9};
  const auto weights = both.wrapper.weights(x, philox);
  CHECK(same_state(philox, heed::Philox{4, 10}));
  const auto plain = both.wrapper.weights(x);
  const heed::Philox source{4, 9};
  bool right = true;
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 3; ++h)
      for (Index i = 0; i < 6; ++i)
        for (Index j = 0; j < 6; ++j)
          right = right && weights(b, h, i, j) == (source.uniform(b, h, i, j) < 0.5 ? 2 * plain(b, h, i, j) : 0);
  CHECK(right);
}

TEST_CASE("the parameters of MultiHeadAttentionWrapper are those of its heads", "[nn][multi_head_attention_wrapper]") {
  auto wrapper = wrapper_and_heads<float>().wrapper;
  const auto all = wrapper.parameters();
  REQUIRE(all.size() == 18);
  const std::string parts[] = {"W_query.weight", "W_query.bias",   "W_key.weight",
                               "W_key.bias",     "W_value.weight", "W_value.bias"};
  for (std::size_t i = 0; i < 18; ++i) {
    CHECK(all[i].name == "heads." + std::to_string(i / 6) + "." + parts[i % 6]);
    CHECK(all[i].shape == (i % 2 == 0 ? std::vector<Index>{6, 5} : std::vector<Index>{6}));
  }
  CHECK(all[6].value.data() == wrapper.head(1).W_query().weight().data());
  all[17].value[5] = 42;
  CHECK(wrapper.head(2).W_value().bias()(5) == 42);
  STATIC_REQUIRE(same<decltype(std::as_const(wrapper).parameters()), std::vector<heed::Parameter<const float>>>);
  CHECK(std::as_const(wrapper).parameters()[17].value[5] == 42);
}

TEST_CASE("MultiHeadAttentionWrapper computes with the heads it hands out", "[nn][multi_head_attention_wrapper]") {
  auto wrapper = wrapper_and_heads<float>().wrapper;
  const auto x = random_tensor<float>(1, 6, 5);
  const auto before = wrapper(x);
  wrapper.head(1).W_value().weight().matrix().setZero();
  wrapper.head(1).W_value().bias().data()[2] = 0;
  const auto after = wrapper(x);
  CHECK(equal(heed::slice(after, 1, 0, 6), heed::slice(before, 1, 0, 6)));
  CHECK(all_equal_to(heed::slice(after, 1, 8, 9), 0));
  CHECK(equal(heed::slice(after, 1, 12, 18), heed::slice(before, 1, 12, 18)));
}

TEST_CASE("MultiHeadAttentionWrapper refuses a config with impossible numbers and draws nothing then",
          "[nn][multi_head_attention_wrapper]") {
  const auto error = [](auto change) {
    heed::AttentionConfig config = small_config();
    change(config);
    return config_error_of<heed::MultiHeadAttentionWrapper<float>>(config);
  };
  CHECK(says(error([](auto& c) { c.d_in = 0; }), "heed::MultiHeadAttentionWrapper", "d_in", "got 0"));
  CHECK(says(error([](auto& c) { c.d_out = -6; }), "heed::MultiHeadAttentionWrapper", "d_out", "got -6"));
  CHECK(says(error([](auto& c) { c.context_length = 0; }), "heed::MultiHeadAttentionWrapper", "context_length"));
  CHECK(says(error([](auto& c) { c.num_heads = 0; }), "heed::MultiHeadAttentionWrapper", "num_heads", "got 0"));
  CHECK(says(error([](auto& c) { c.num_heads = -2; }), "heed::MultiHeadAttentionWrapper", "num_heads", "got -2"));
  CHECK(says(error([](auto& c) { c.dropout = 2; }), "heed::MultiHeadAttentionWrapper", "dropout", "got 2"));
  CHECK(error([](auto& c) { c.d_out = 7; }) == "no error");  // each head has all of d_out
}

TEST_CASE("MultiHeadAttentionWrapper names itself when a sentence is too long", "[nn][multi_head_attention_wrapper]") {
  const auto both = wrapper_and_heads<float>();
  CHECK(both.wrapper(heed::Tensor<float, 2>(7, 5)).shape() == heed::Shape(7, 18));
  CHECK(says(shape_error_of([&] { both.wrapper(heed::Tensor<float, 2>(8, 5)); }), "heed::MultiHeadAttentionWrapper",
             "x is ℝ^{8×5}", "context_length = 7"));
}

TEST_CASE("a Generator given by a dropout modifier drops as a random source does",
          "[nn][multi_head_attention_wrapper]") {
  const auto both = wrapper_and_heads<float>();
  const auto x = random_tensor<float>(1, 3, 6, 5);
  heed::Generator source(4), of_modifier(4);
  CHECK(equal(both.wrapper(x, heed::dropout(0.5, of_modifier)), both.wrapper(x, source)));
  CHECK(same_state(source, of_modifier));
}

TEST_CASE("MultiHeadAttentionWrapper has the heads it counts and no others", "[nn][multi_head_attention_wrapper]") {
  auto wrapper = wrapper_and_heads<float>().wrapper;
  CHECK(shape_error_of([&] { wrapper.head(2); }) == "no error");
  CHECK(says(shape_error_of([&] { wrapper.head(3); }), "heed::MultiHeadAttentionWrapper", "no head 3"));
  CHECK(
      says(shape_error_of([&] { std::as_const(wrapper).head(-1); }), "heed::MultiHeadAttentionWrapper", "no head -1"));
}

TEST_CASE("a head that is replaced must keep its sizes", "[nn][multi_head_attention_wrapper]") {
  auto wrapper = wrapper_and_heads<float>().wrapper;
  const auto x = random_tensor<float>(1, 6, 5);
  heed::AttentionConfig config = small_config();
  heed::Generator rng(1);
  const auto before = wrapper(x);
  wrapper.head(1) = heed::CausalAttention<float>(config, rng);
  const auto after = wrapper(x);
  CHECK(equal(heed::slice(after, 1, 0, 6), heed::slice(before, 1, 0, 6)));
  CHECK_FALSE(equal(heed::slice(after, 1, 6, 12), heed::slice(before, 1, 6, 12)));
  config.d_out = 7;
  wrapper.head(1) = heed::CausalAttention<float>(config, rng);
  CHECK(says(shape_error_of([&] { wrapper(x); }), "heed::MultiHeadAttentionWrapper", "7", "6"));
}
