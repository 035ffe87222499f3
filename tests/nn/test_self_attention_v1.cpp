#include <heed/nn/self_attention_v1.hpp>

#include "catch.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

template <class M>
concept HasQuery = requires(M&& module) {
  std::forward<M>(module).W_query();
};

}  // namespace

TEMPLATE_TEST_CASE("SelfAttention_v1 draws query, key and value weights between 0 and 1, row by row",
                   "[nn][self_attention_v1]", float, double) {
  using T = TestType;
  heed::Generator rng(123);
  const heed::SelfAttention_v1<T> module({.d_in = 3, .d_out = 2}, rng);
  heed::Generator again(123);
  CHECK(equal(module.W_query(), heed::rand<T>(again, 3, 2)));
  CHECK(equal(module.W_key(), heed::rand<T>(again, 3, 2)));
  CHECK(equal(module.W_value(), heed::rand<T>(again, 3, 2)));
  CHECK(same_state(rng, again));
  CHECK(module.d_in() == 3);
  CHECK(module.d_out() == 2);
  CHECK(module.num_heads() == 1);
}

TEST_CASE("SelfAttention_v1 projects by its weights as they are, in × out", "[nn][self_attention_v1]") {
  heed::Generator rng(1);
  heed::SelfAttention_v1<float> module({.d_in = 2, .d_out = 2}, rng);
  const heed::Tensor<float, 2> numbers{{1, 2}, {3, 4}};
  heed::copy_into(module.W_value(), numbers);
  // Every sentence is one token, which attends to itself alone; together they are the identity.
  const heed::Tensor<float, 3> identity{{{1, 0}}, {{0, 1}}};
  CHECK(equal(module(identity), heed::Tensor<float, 3>{{{1, 2}}, {{3, 4}}}));
}

TEST_CASE("every token of SelfAttention_v1 sees every token", "[nn][self_attention_v1]") {
  heed::Generator rng(1);
  heed::SelfAttention_v1<double> module({.d_in = 1, .d_out = 1}, rng);
  module.W_query()(0, 0) = 0;  // all scores are zero, every row is the mean
  module.W_value()(0, 0) = 2;
  const heed::Tensor<double, 2> x{{1}, {2}, {6}};
  CHECK(almost_equal(module(x), heed::Tensor<double, 2>{{6}, {6}, {6}}));
  CHECK(almost_equal(
      module.weights(x),
      heed::Tensor<double, 3>{{{1. / 3, 1. / 3, 1. / 3}, {1. / 3, 1. / 3, 1. / 3}, {1. / 3, 1. / 3, 1. / 3}}}));
}

TEST_CASE("SelfAttention_v1 scales its scores by the root of d_out", "[nn][self_attention_v1]") {
  heed::Generator rng(1);
  heed::SelfAttention_v1<double> module({.d_in = 1, .d_out = 4}, rng);
  module.W_query().matrix().setOnes();
  module.W_key().matrix().setOnes();
  // Scores q·k/√4 = 4·x_i·x_j/2.
  const heed::Tensor<double, 2> x{{0}, {0.5}};
  const double e = std::exp(0.5);
  CHECK(almost_equal(module.weights(x), heed::Tensor<double, 3>{{{0.5, 0.5}, {1 / (1 + e), e / (1 + e)}}}));
}

TEST_CASE("the parameters of SelfAttention_v1 are its weights themselves", "[nn][self_attention_v1]") {
  heed::Generator rng(1);
  heed::SelfAttention_v1<float> module({.d_in = 3, .d_out = 2}, rng);
  const auto all = module.parameters();
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "W_query");
  CHECK(all[1].name == "W_key");
  CHECK(all[2].name == "W_value");
  for (const auto& parameter : all) {
    CHECK(parameter.shape == std::vector<Index>{3, 2});
    CHECK(parameter.grad.empty());
  }
  CHECK(all[0].value.data() == module.W_query().data());
  CHECK(all[1].value.data() == module.W_key().data());
  CHECK(all[2].value.data() == module.W_value().data());
  all[2].value[1] = 42;
  CHECK(module.W_value()(0, 1) == 42);
  const auto& constant = std::as_const(module);
  STATIC_REQUIRE(same<decltype(constant.parameters()), std::vector<heed::Parameter<const float>>>);
  STATIC_REQUIRE(same<decltype(constant.W_key()), heed::TensorView<const float, 2>>);
  CHECK(constant.parameters()[2].value[1] == 42);
}

TEST_CASE("SelfAttention_v1 ignores the fields of the config that it does not use", "[nn][self_attention_v1]") {
  heed::Generator rng(4), again(4);
  const heed::SelfAttention_v1<float> plain({.d_in = 3, .d_out = 2}, rng);
  const heed::SelfAttention_v1<float> odd({.d_in = 3,
                                           .d_out = 2,
                                           .context_length = -5,
                                           .dropout = std::numeric_limits<double>::quiet_NaN(),
                                           .num_heads = 0,
                                           .qkv_bias = true},
                                          again);
  CHECK(same_state(rng, again));
  CHECK(odd.parameters().size() == 3);
  const auto x = random_tensor<float>(1, 6, 3);
  CHECK(equal(plain(x), odd(x)));
  CHECK(equal(odd(x, rng), plain(x)));
}

TEST_CASE("a temporary SelfAttention_v1 gives no views of itself", "[nn][self_attention_v1]") {
  STATIC_REQUIRE(HasQuery<const heed::SelfAttention_v1<>&>);
  STATIC_REQUIRE_FALSE(HasQuery<heed::SelfAttention_v1<>>);
}
