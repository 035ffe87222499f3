// attention(x, context, options…): the same cases for every module.
#include "catch.hpp"

#include <heed/heed.hpp>

#include <string>
#include <tuple>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

using Modules = std::tuple<heed::SelfAttention_v1<double>, heed::SelfAttention_v2<float>, heed::CausalAttention<float>,
                           heed::MultiHeadAttentionWrapper<float>, heed::MultiHeadAttention<float>,
                           heed::MultiHeadAttention<double>>;

/// d_in 5; 2 tokens of x look at 9 of the context.
template <class Module>
struct Problem {
  using T = typename Module::value_type;
  heed::Generator seed{77};
  Module module{small_config(), seed};
  heed::Tensor<T, 3> x = random_tensor<T>(1, 3, 2, 5), context = random_tensor<T>(2, 3, 9, 5);
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("tokens look at all of a context, whatever its length", "[nn][cross_attention]", Modules) {
  using T = typename TestType::value_type;
  const Problem<TestType> p;
  const auto y = p.module(p.x, p.context);
  CHECK(y.shape() == heed::Shape<3>(3, 2, p.module.d_out()));
  const auto weights = p.module.weights(p.x, p.context);
  REQUIRE(weights.shape() == heed::Shape<4>(3, p.module.num_heads(), 2, 9));
  for (Index n = 0; n < weights.size(); ++n) CHECK(weights.data()[n] > 0);

  heed::Tensor<T, 3> out(y.shape());
  p.module.into(out, p.x, p.context);
  CHECK(equal(out, y));
  for (Index b = 0; b < 3; ++b) {  // one sentence at a time
    CHECK(equal(p.module(p.x[b], p.context[b]), y[b]));
    CHECK(equal(p.module.weights(p.x[b], p.context[b]), weights[b]));
  }
}

TEMPLATE_LIST_TEST_CASE("what a token of x gets does not depend on the others, nor on the order of the context",
                        "[nn][cross_attention]", Modules) {
  using T = typename TestType::value_type;
  const Problem<TestType> p;
  const auto y = p.module(p.x, p.context);
  CHECK(equal(p.module(heed::slice(p.x, 1, 1, 2), p.context), heed::copy(heed::slice(y, 1, 1, 2))));
  heed::Tensor<T, 3> turned(p.context.shape());
  for (Index j = 0; j < 9; ++j)
    heed::copy_into(heed::slice(turned, 1, j, j + 1), heed::slice(p.context, 1, 8 - j, 9 - j));
  CHECK(almost_equal(p.module(p.x, turned), y));
}

TEMPLATE_LIST_TEST_CASE("queries come from x, keys and values from the context", "[nn][cross_attention]", Modules) {
  using T = typename TestType::value_type;
  const Problem<TestType> p;
  // A context of one token repeated: every weight is 1/9, and the output does not depend on x.
  heed::Tensor<T, 3> repeated(3, 9, 5);
  for (Index j = 0; j < 9; ++j) heed::copy_into(heed::slice(repeated, 1, j, j + 1), heed::slice(p.context, 1, 3, 4));
  const auto y = p.module(p.x, repeated);
  CHECK(almost_equal(heed::copy(heed::slice(y, 1, 0, 1)), heed::copy(heed::slice(y, 1, 1, 2))));
  CHECK(almost_equal(y, p.module(heed::copy(heed::slice(p.context, 1, 0, 2)), repeated)));
  CHECK_FALSE(almost_equal(y, p.module(p.x, p.context), 1e4));
}

TEMPLATE_LIST_TEST_CASE("self-attention is attention to oneself", "[nn][cross_attention]", Modules) {
  const Problem<TestType> p;
  const auto& x = p.x;
  if constexpr (TestType::is_causal) {
    CHECK(equal(p.module(x, x, heed::causal()), p.module(x)));
    CHECK(equal(p.module.weights(x, x, heed::causal()), p.module.weights(x)));
    CHECK_FALSE(equal(p.module(x, x), p.module(x)));
  } else {
    CHECK(equal(p.module(x, x), p.module(x)));
  }
}

TEMPLATE_LIST_TEST_CASE("options of cross-attention have the context's length", "[nn][cross_attention]", Modules) {
  using T = typename TestType::value_type;
  const Problem<TestType> p;
  const Index h = p.module.num_heads();
  const std::vector<Index> lengths{9, 4, 0};
  const auto y = p.module(p.x, p.context, heed::key_lengths(lengths));
  for (Index b = 0; b < 2; ++b) {
    const auto shorter = heed::copy(heed::slice(p.context, 1, 0, lengths[static_cast<std::size_t>(b)]));
    CHECK(equal(p.module(p.x[b], shorter[b]), y[b]));
  }
  heed::Tensor<bool, 2> seen(2, 9);
  for (Index j = 0; j < 9; ++j) seen(0, j) = seen(1, j) = j % 2 == 0;
  heed::Tensor<T, 4> weights(3, h, 2, 9);
  heed::Tensor<T, 3> lse(3, h, 2);
  p.module(p.x, p.context, heed::mask(seen), heed::logsumexp(lse), heed::weights(weights));
  CHECK(equal(weights, p.module.weights(p.x, p.context, heed::mask(seen))));
  CHECK(weights(1, h - 1, 1, 1) == 0);
  CHECK(weights(1, h - 1, 1, 2) > 0);

  heed::Philox philox{3, 4};
  const auto dropped = p.module(p.x, p.context, philox);
  CHECK(philox.offset == 5);
  if constexpr (requires { p.module.dropout(); }) {
    CHECK(equal(dropped, p.module(p.x, p.context, heed::dropout(0.5, heed::Philox{3, 4}))));
    CHECK_FALSE(equal(dropped, p.module(p.x, p.context)));
  } else {
    CHECK(equal(dropped, p.module(p.x, p.context)));
  }
}

TEMPLATE_LIST_TEST_CASE("a context that does not fit is refused before anything is written or drawn",
                        "[nn][cross_attention]", Modules) {
  using T = typename TestType::value_type;
  const Problem<TestType> p;
  heed::Tensor<T, 3> out(3, 2, p.module.d_out());
  out.fill(7);
  heed::Generator rng(1);
  const auto refused = [&](const heed::Tensor<T, 3>& context) {
    const std::string message = shape_error_of([&] { p.module(p.x, context, rng); });
    CHECK(shape_error_of([&] { p.module.into(out, p.x, context, rng); }) == message);
    CHECK(shape_error_of([&] { p.module.weights(p.x, context, rng); }) == message);
    return message;
  };
  const std::string name = TestType::name;
  CHECK(refused(heed::Tensor<T, 3>(3, 9, 4)) == name + ": context is ℝ^{3×9×4}, but its last size must be d_in = 5");
  CHECK(refused(heed::Tensor<T, 3>(2, 9, 5)) ==
        name + ": context is ℝ^{2×9×5}, but its batch size must be that of x ℝ^{3×2×5}");
  CHECK(all_equal_to(out, 7));
  CHECK(same_state(rng, heed::Generator(1)));

  CHECK(says(error_of([&] { p.module.into(heed::slice(out, 1, 0, 2), p.x, heed::slice(out, 2, 0, 5)); }),
             "the output out", "shares elements with the input context"));
}

TEMPLATE_LIST_TEST_CASE("an empty context gives zeros before out_proj", "[nn][cross_attention]", Modules) {
  using T = typename TestType::value_type;
  const Problem<TestType> p;
  const auto y = p.module(p.x, heed::Tensor<T, 3>(3, 0, 5));
  if constexpr (requires { p.module.out_proj(); }) {
    for (Index b = 0; b < 3; ++b)
      for (Index i = 0; i < 2; ++i)
        for (Index c = 0; c < y.shape()[2]; ++c) CHECK(y(b, i, c) == p.module.out_proj().bias()(c));
  } else {
    CHECK(all_equal_to(y, 0));
  }
}
