#include <heed/nn/module_interface.hpp>

#include "catch.hpp"

#include <heed/nn/causal_attention.hpp>
#include <heed/nn/multi_head_attention.hpp>
#include <heed/nn/multi_head_attention_wrapper.hpp>
#include <heed/nn/self_attention_v1.hpp>
#include <heed/nn/self_attention_v2.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

heed::MultiHeadAttention<float> multi_head() {
  heed::Generator rng(41);
  return {small_config(), rng};
}

/// Queries and keys of the module's heads for a batch: ℝ^{b×h×t×d}.
template <class Module>
auto queries_and_keys(const Module& module, const heed::Tensor<float, 3>& x) {
  const auto heads = [&](const heed::Tensor<float, 3>& y) {
    return heed::copy(heed::split_heads(y, module.num_heads()));
  };
  return std::pair(heads(module.W_query()(x)), heads(module.W_key()(x)));
}

}  // namespace

TEST_CASE("random sources and modifiers are options, other things are not", "[nn][module_interface]") {
  STATIC_REQUIRE(heed::RandomSource<heed::Generator&>);
  STATIC_REQUIRE(heed::RandomSource<heed::Philox>);
  STATIC_REQUIRE_FALSE(heed::RandomSource<int>);
  STATIC_REQUIRE(heed::ModuleOption<heed::Generator&>);
  STATIC_REQUIRE(heed::ModuleOption<decltype(heed::causal())>);
  STATIC_REQUIRE(heed::ModuleOption<decltype(heed::key_lengths({1}))>);
  STATIC_REQUIRE_FALSE(heed::ModuleOption<double>);
  STATIC_REQUIRE_FALSE(heed::ModuleOption<heed::Tensor<float, 2>>);
}

TEST_CASE("a padded batch with key lengths equals its single sentences", "[nn][module_interface]") {
  const auto module = multi_head();
  auto x = random_tensor<float>(1, 3, 6, 5);
  const std::vector<Index> lengths{4, 6, 1};
  for (Index b = 0; b < 3; ++b)
    for (Index i = lengths[static_cast<std::size_t>(b)]; i < 6; ++i)
      for (Index c = 0; c < 5; ++c) x(b, i, c) = not_a_number;  // padding, which must not show
  const auto out = module(x, heed::key_lengths(lengths));
  const auto weights = module.weights(x, heed::key_lengths(lengths));
  for (Index b = 0; b < 3; ++b) {
    const Index length = lengths[static_cast<std::size_t>(b)];
    const auto sentence = heed::slice(x[b], 0, 0, length);
    CHECK(almost_equal(heed::slice(out[b], 0, 0, length), module(sentence)));
    CHECK(almost_equal(heed::slice(heed::slice(weights[b], 1, 0, length), 2, 0, length), module.weights(sentence)));
    CHECK(all_equal_to(heed::slice(heed::slice(weights[b], 1, 0, length), 2, length, 6), 0));
  }
  const std::array<std::int32_t, 3> of_another_type{4, 6, 1};
  const auto again = module(x, heed::key_lengths(of_another_type));
  CHECK(equal(again[1], out[1]));
  const auto sentence = module(x[0], heed::key_lengths({4}));
  CHECK(almost_equal(heed::slice(sentence, 0, 0, 4), heed::slice(out[0], 0, 0, 4)));
}

TEST_CASE("a mask hides in a module what it hides in attention", "[nn][module_interface]") {
  const auto module = multi_head();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  const auto [q, k] = queries_and_keys(module, x);
  heed::Tensor<bool, 2> mask(6, 6);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) mask(i, j) = (i + j) % 3 != 1;
  const auto weights = module.weights(x, heed::mask(mask));
  CHECK(equal(weights, heed::attention_weights(q, k, heed::causal(), heed::mask(mask))));
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) CHECK((weights(1, 2, i, j) > 0) == (j <= i && mask(i, j)));

  heed::Tensor<bool, 3> of_head(3, 6, 6);
  of_head.fill(true);
  for (Index i = 0; i < 6; ++i) of_head(1, i, 0) = false;
  const auto of_sentence = module.weights(x[0], heed::mask(of_head), heed::mask(mask));  // they intersect
  CHECK(of_sentence(1, 3, 0) == 0);
  CHECK(of_sentence(0, 3, 0) > 0);
  CHECK(of_sentence(0, 3, 1) == 0);
}

TEST_CASE("a sentence in which a token may see nothing gets the bias of out_proj there", "[nn][module_interface]") {
  const auto module = multi_head();
  heed::Tensor<bool, 2> mask(6, 6);
  const auto y = module(random_tensor<float>(1, 6, 5), heed::mask(mask));
  for (Index i = 0; i < 6; ++i) CHECK(equal(y[i], module.out_proj().bias()));
}

TEST_CASE("a bias and a scale change the scores of a module", "[nn][module_interface]") {
  const auto module = multi_head();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  const auto [q, k] = queries_and_keys(module, x);
  auto bias = random_tensor<float>(2, 3, 6, 6);
  bias(1, 4, 2) = -infinity;
  CHECK(equal(module.weights(x, heed::scale(3), heed::bias(bias)),
              heed::attention_weights(q, k, heed::causal(), heed::scale(3), heed::bias(bias))));
  CHECK(module.weights(x, heed::bias(bias))(0, 1, 4, 2) == 0);
  CHECK_FALSE(equal(module(x, heed::scale(3)), module(x)));
  CHECK(almost_equal(module.weights(x, heed::scale(1 / std::sqrt(2.0))), module.weights(x)));
}

TEST_CASE("a module hands out the log-sum-exp of its scores", "[nn][module_interface]") {
  const auto module = multi_head();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  const auto [q, k] = queries_and_keys(module, x);
  heed::Tensor<float, 3> expected(2, 3, 6), lse(2, 3, 6);
  heed::attention_weights(q, k, heed::causal(), heed::logsumexp(expected));
  const auto y = module(x, heed::logsumexp(lse));
  CHECK(almost_equal(lse, expected));
  CHECK(equal(y, module(x)));

  lse.fill(0);
  module.weights(x, heed::logsumexp(lse));
  CHECK(equal(lse, expected));

  heed::Tensor<float, 2> of_sentence(3, 6);  // one sentence has no batch
  module(x[1], heed::logsumexp(of_sentence));
  CHECK(almost_equal(of_sentence, expected[1]));

  Eigen::MatrixXf column_major(3, 6);
  module(x[1], heed::logsumexp(column_major));
  CHECK(equal(column_major, of_sentence));

  heed::Generator rng(1);
  lse.fill(0);
  module(x, heed::logsumexp(lse), rng);  // before dropout
  CHECK(equal(lse, expected));
}

TEST_CASE("every modifier works as an option of a module", "[nn][module_interface]") {
  const auto module = multi_head();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  const auto heads = queries_and_keys(module, x);
  const auto &q = heads.first, &k = heads.second;
  const std::vector<float> slopes{0.5f, 0.25f, -1}, logits{0, 1, -1};
  const auto call = [&](const auto& attend) {
    return attend(heed::soft_cap(3), heed::alibi(slopes), heed::sinks(logits), heed::sliding_window(2, heed::unbounded),
                  heed::score_mod([](float score, auto, auto h, auto...) { return score + float(h); }),
                  heed::mask_mod([](auto, auto, auto i, auto j) { return (i + j) % 3 != 0; }),
                  heed::prob_mod([](float weight, auto...) { return weight * weight; }));
  };
  const auto expected = call([&](const auto&... m) { return heed::attention_weights(q, k, heed::causal(), m...); });
  CHECK(equal(call([&](const auto&... m) { return module.weights(x, m...); }), expected));

  heed::Tensor<float, 4> scores(2, 3, 6, 6), last(2, 3, 6, 6), weights(2, 3, 6, 6), plain(2, 3, 6, 6);
  call([&](const auto&... m) {
    return module(x, heed::scores(scores), m..., heed::final_scores(last), heed::weights(weights));
  });
  CHECK(equal(weights, expected));
  heed::attention_weights(q, k, heed::scores(plain));
  CHECK(equal(scores, plain));
  for (Index n = 0; n < last.size(); ++n) CHECK((last.data()[n] == -infinity) == (weights.data()[n] == 0));

  heed::Tensor<float, 3> of_sentence(3, 6, 6);  // one sentence has no batch
  module(x[1], heed::scores(of_sentence));
  CHECK(almost_equal(of_sentence, plain[1]));
  CHECK(says(shape_error_of([&] { module(x, heed::alibi({1.0f})); }), "heed::MultiHeadAttention: alibi is ℝ^{1}",
             "each of 3 heads"));
  CHECK(says(shape_error_of([&] { module(x[0], heed::weights(of_sentence), heed::sinks({1.0f})); }),
             "heed::MultiHeadAttention: sinks is ℝ^{1}", "each of 3 heads"));
}

TEST_CASE("options stand in any order", "[nn][module_interface]") {
  const auto module = multi_head();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  const auto bias = random_tensor<float>(2, 6, 6);
  const std::vector<int> lengths{3, 6};
  heed::Tensor<float, 3> lse_a(2, 3, 6), lse_b(2, 3, 6);
  heed::Generator a(5), b(5), c(5);
  const auto first =
      module(x, a, heed::scale(0.5), heed::bias(bias), heed::key_lengths(lengths), heed::logsumexp(lse_a));
  const auto second =
      module(x, heed::logsumexp(lse_b), heed::key_lengths(lengths), heed::bias(bias), heed::scale(0.5), b);
  heed::Tensor<float, 3> third(2, 6, 6);
  module.into(third, x, heed::key_lengths(lengths), heed::bias(bias), c, heed::scale(0.5));
  CHECK(equal(first, second));
  CHECK(equal(first, third));
  CHECK(equal(lse_a, lse_b));
  CHECK(same_state(a, b));
  CHECK(same_state(a, c));
}

TEST_CASE("options may be named first, const, and used again", "[nn][module_interface]") {
  const auto module = multi_head();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  const auto scale = heed::scale(0.5);
  const std::vector<Index> lengths{3, 6};
  const auto key_lengths = heed::key_lengths(lengths);
  const auto once = module(x, scale, key_lengths);
  CHECK(equal(module(x, scale, key_lengths), once));
  CHECK(equal(module(x, heed::scale(0.5), heed::key_lengths({3, 6})), once));
  // A source made for one call.
  heed::Philox named{7, 1};
  CHECK(equal(module(x, heed::Philox{7, 1}), module(x, named)));
}

TEST_CASE("dropout by a Philox is advanced by one at each call", "[nn][module_interface]") {
  const auto module = multi_head();
  const auto x = random_tensor<float>(1, 2, 6, 5);
  heed::Philox philox{7, 10};
  const auto first = module(x, philox);
  const auto second = module(x, philox);
  heed::Tensor<float, 3> third(2, 6, 6);
  module.into(third, x, philox);
  module.weights(x, philox);
  CHECK(same_state(philox, heed::Philox{7, 14}));
  CHECK_FALSE(equal(first, second));
  CHECK_FALSE(equal(second, third));
  CHECK(equal(first, module(x, heed::Philox{7, 10})));
  CHECK(equal(third, module(x, heed::Philox{7, 12})));
}

TEST_CASE("a dropout modifier works in a module and advances nothing", "[nn][module_interface]") {
  const auto module = multi_head();  // its own probability is 0.5
  const auto x = random_tensor<float>(1, 2, 6, 5);
  const heed::Philox philox{7, 10};
  CHECK(equal(module(x, heed::dropout(0.5, philox)), module(x, heed::Philox{7, 10})));
  CHECK_FALSE(equal(module(x, heed::dropout(0.25, philox)), module(x, heed::Philox{7, 10})));
  CHECK(philox.offset == 10);
}

TEST_CASE("a call that ends in an error changes nothing", "[nn][module_interface]") {
  auto module = multi_head();
  auto x = random_tensor<float>(1, 2, 6, 5);
  const auto x_before = x;
  heed::Tensor<float, 3> out(2, 6, 6), lse(2, 3, 6);
  out.fill(77);
  lse.fill(77);
  const heed::Generator rng_before(5);
  heed::Generator rng = rng_before;
  heed::Philox philox{5, 5};
  const auto unchanged = [&] {
    return all_equal_to(out, 77) && all_equal_to(lse, 77) && equal(x, x_before) && same_state(rng, rng_before) &&
           same_state(philox, heed::Philox{5, 5});
  };
  const auto error = [&](const auto&... options) {
    const auto with_generator = error_of([&] { module.into(out, x, rng, heed::logsumexp(lse), options...); });
    const auto with_philox = error_of([&] { module.into(out, x, heed::logsumexp(lse), options..., philox); });
    const auto of_weights = error_of([&] { module.weights(x, heed::logsumexp(lse), options..., rng); });
    return with_generator == with_philox && with_generator == of_weights && unchanged() ? with_generator
                                                                                        : "something changed";
  };
  const heed::Tensor<bool, 2> wide(6, 7);
  CHECK(says(error(heed::mask(wide)), "heed::MultiHeadAttention", "mask is ℝ^{6×7}", "scores ℝ^{2×3×6×6}"));
  const heed::Tensor<float, 3> two_heads(2, 6, 6);
  CHECK(says(error(heed::bias(two_heads)), "heed::MultiHeadAttention", "bias is ℝ^{2×6×6}", "scores ℝ^{2×3×6×6}"));
  const std::vector<Index> three{6, 6, 6}, long_one{6, 7}, negative{-1, 6};
  CHECK(says(error(heed::key_lengths(three)), "heed::MultiHeadAttention", "key_lengths is ℝ^{3}", "2"));
  CHECK(says(error(heed::key_lengths(long_one)), "heed::MultiHeadAttention", "key_lengths", "7", "[0, 6]"));
  CHECK(says(error(heed::key_lengths(negative)), "heed::MultiHeadAttention", "key_lengths", "-1", "[0, 6]"));

  // Inputs and outputs that do not fit.
  heed::Tensor<float, 3> narrow(2, 6, 5), short_lse(2, 3, 5);
  CHECK(says(shape_error_of([&] { module.into(out, heed::Tensor<float, 3>(2, 6, 4), rng); }), "x is ℝ^{2×6×4}",
             "d_in = 5"));
  CHECK(says(shape_error_of([&] { module.into(out, heed::Tensor<float, 3>(2, 8, 5), philox); }), "x is ℝ^{2×8×5}"));
  CHECK(says(shape_error_of([&] { module.into(narrow, x, rng); }), "out is ℝ^{2×6×5}", "the result is ℝ^{2×6×6}"));
  CHECK(says(shape_error_of([&] { module.into(out, x, rng, heed::logsumexp(short_lse)); }), "logsumexp is ℝ^{2×3×5}",
             "ℝ^{2×3×6}"));
  CHECK(unchanged());
  CHECK(all_equal_to(narrow, 0));
  CHECK(all_equal_to(short_lse, 0));
}

TEST_CASE("errors of a call with one sentence show the shapes of one sentence", "[nn][module_interface]") {
  const auto module = multi_head();
  const heed::Tensor<float, 2> x(6, 5);
  const heed::Tensor<bool, 2> mask(5, 6);
  CHECK(says(shape_error_of([&] { module(x, heed::mask(mask)); }), "mask is ℝ^{5×6}", "scores ℝ^{3×6×6}"));
  heed::Tensor<float, 2> lse(2, 6);
  CHECK(says(shape_error_of([&] { module(x, heed::logsumexp(lse)); }), "logsumexp is ℝ^{2×6}", "ℝ^{3×6}"));
  CHECK(says(shape_error_of([&] { module(x, heed::key_lengths({6, 6})); }), "key_lengths is ℝ^{2}"));
}

TEMPLATE_TEST_CASE("an output of a module shares no element with what the call reads", "[nn][module_interface]",
                   heed::CausalAttention<float>, heed::MultiHeadAttention<float>) {
  heed::Generator seed(41);
  heed::AttentionConfig config = small_config();
  config.num_heads = 1;
  config.d_in = config.d_out = 6;
  const TestType module(config, seed);
  auto x = random_tensor<float>(1, 6, 6);
  auto other = random_tensor<float>(2, 6, 6);
  const auto x_before = x, other_before = other;
  heed::Tensor<float, 2> out(6, 6), lse(1, 6);
  heed::Generator rng(5);
  const auto refused = [&](const std::string& message, const char* output, const char* input) {
    return says(message, TestType::name, output, "share", input) && equal(x, x_before) && equal(other, other_before) &&
           all_equal_to(out, 0) && all_equal_to(lse, 0) && same_state(rng, heed::Generator(5));
  };
  CHECK(refused(error_of([&] { module.into(x, x, rng); }), "out", "x"));
  CHECK(refused(error_of([&] { module.into(heed::transpose(x, 0, 1), x, rng); }), "out", "x"));
  CHECK(refused(error_of([&] { module.into(other, x, rng, heed::bias(other)); }), "out", "bias"));
  const auto row_of_x = heed::view(x.data() + 12, {1, 6});
  CHECK(refused(error_of([&] { module.into(out, x, rng, heed::logsumexp(row_of_x)); }), "logsumexp", "x"));
  CHECK(refused(error_of([&] { module.weights(x, rng, heed::logsumexp(row_of_x)); }), "logsumexp", "x"));
  const auto row_of_out = heed::view(out.data() + 12, {1, 6});
  CHECK(refused(error_of([&] { module.into(out, x, rng, heed::logsumexp(row_of_out)); }), "logsumexp", "out"));
  const auto row_of_other = heed::view(other.data(), {1, 6});
  CHECK(refused(error_of([&] { module.into(out, x, heed::bias(other), rng, heed::logsumexp(row_of_other)); }),
                "logsumexp", "bias"));
  const auto one_row_again = heed::view(out.data(), {6, 6}, {0, 1});
  CHECK(says(error_of([&] { module.into(one_row_again, x, rng); }), TestType::name, "out"));
  CHECK(all_equal_to(out, 0));
}

TEMPLATE_TEST_CASE("an output of a module may not lie in its parameters", "[nn][module_interface]",
                   heed::SelfAttention_v1<float>, heed::SelfAttention_v2<float>, heed::CausalAttention<float>,
                   heed::MultiHeadAttentionWrapper<float>, heed::MultiHeadAttention<float>) {
  heed::Generator seed(41);
  TestType module({.d_in = 6, .d_out = 6, .context_length = 6, .dropout = 0.5, .num_heads = 1, .qkv_bias = true}, seed);
  const auto x = random_tensor<float>(1, 6, 6);
  heed::Tensor<float, 2> out(6, 6);
  heed::Generator rng(5);
  for (const auto& parameter : module.parameters()) {
    const std::vector<float> before(parameter.value.begin(), parameter.value.end());
    const auto in_it = heed::view(parameter.value.data(), {1, 6});
    CHECK(says(error_of([&] { module.into(out, x, rng, heed::logsumexp(in_it)); }), "logsumexp", "parameter"));
    if (parameter.value.size() == 36) {
      const auto all_of_it = heed::view(parameter.value.data(), {6, 6});
      CHECK(says(error_of([&] { module.into(all_of_it, x, rng); }), "out", "parameter"));
    }
    CHECK(std::equal(before.begin(), before.end(), parameter.value.begin()));
  }
  CHECK(all_equal_to(out, 0));
  CHECK(same_state(rng, heed::Generator(5)));
}

TEST_CASE("a layer replaced by one of another size is refused before anything is drawn", "[nn][module_interface]") {
  heed::Generator seed(41);
  const heed::Linear<float> wide(5, 9, true, seed), odd(4, 6, true, seed);
  const auto x = random_tensor<float>(1, 6, 5);
  heed::Tensor<float, 2> lse(3, 6);
  heed::Generator rng(5);
  const auto refused = [&](const auto& module, const char* layer, const char* shape) {
    return says(shape_error_of([&] { module(x, rng, heed::logsumexp(lse)); }), module.name, layer, shape) &&
           all_equal_to(lse, 0) && same_state(rng, heed::Generator(5));
  };
  auto module = multi_head();
  module.out_proj() = wide;
  CHECK(refused(module, "out_proj", "ℝ^{9×5}"));
  module = multi_head();
  module.W_value() = wide;
  CHECK(refused(module, "W_value", "ℝ^{9×5}"));
  module.W_value() = odd;
  CHECK(refused(module, "W_value", "ℝ^{6×4}"));

  heed::MultiHeadAttentionWrapper<float> wrapper(small_config(), seed);
  heed::AttentionConfig other = small_config();
  other.d_out = 4;
  wrapper.head(1).W_key() = odd;
  CHECK(refused(wrapper, "W_key", "ℝ^{6×4}"));
  wrapper.head(1) = heed::CausalAttention<float>(other, seed);
  CHECK(refused(wrapper, "head", "4"));
  other = small_config();
  other.context_length = 2;
  wrapper.head(1) = heed::CausalAttention<float>(other, seed);
  CHECK(refused(wrapper, "head", "context_length"));
  other = small_config();
  other.dropout = 0.25;
  wrapper.head(1) = heed::CausalAttention<float>(other, seed);
  CHECK(refused(wrapper, "head", "dropout"));

  heed::MultiHeadAttentionWrapper<float> source(small_config(), seed);
  const auto target = std::move(source);
  CHECK(target.d_out() == 18);
  CHECK(says(shape_error_of([&] { source(x); }), "MultiHeadAttentionWrapper", "moved from"));
}

TEST_CASE("dropout given as a modifier draws as a random source does", "[nn][module_interface]") {
  heed::Generator seed(41);
  const heed::MultiHeadAttentionWrapper<float> wrapper(small_config(), seed);
  const auto x = random_tensor<float>(1, 2, 6, 5);
  heed::Generator a(5), b(5);
  CHECK(equal(wrapper(x, a), wrapper(x, heed::dropout(0.5, b))));
  CHECK(same_state(a, b));
}
