// The same cases for every module and both scalar types.
#include "catch.hpp"

#include <heed/heed.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

template <template <class> class... Module>
using InBothTypes = std::tuple<Module<float>..., Module<double>...>;
using Modules = InBothTypes<heed::SelfAttention_v1, heed::SelfAttention_v2, heed::CausalAttention,
                            heed::MultiHeadAttentionWrapper, heed::MultiHeadAttention>;

template <class Module>
Module made(std::uint64_t seed = 77, double dropout = 0.5) {
  heed::Generator rng(seed);
  heed::AttentionConfig config = small_config();
  config.dropout = dropout;
  return Module(config, rng);
}

/// Whether a random source drops weights of this module.
template <class Module>
constexpr bool drops = requires(const Module& module) {
  module.dropout();
};

template <class Module>
using Out = heed::Tensor<typename Module::value_type, 3>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("every module gives an output token for each input token", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  STATIC_REQUIRE(heed::AttentionModule<TestType>);
  const auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 2, 6, 5);
  const auto y = module(x);
  CHECK(y.shape() == heed::Shape(2, 6, module.d_out()));
  CHECK(all_finite(y));
  CHECK(module.weights(x).shape() == heed::Shape(2, module.num_heads(), 6, 6));
  CHECK(module.weights(x[0]).shape() == heed::Shape(module.num_heads(), 6, 6));
  CHECK(module.d_in() == 5);
}

TEMPLATE_LIST_TEST_CASE("every module treats a sentence as a batch of one, and a batch as its sentences",
                        "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  const auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 3, 6, 5);
  const auto y = module(x);
  const auto weights = module.weights(x);
  for (Index b = 0; b < 3; ++b) {
    const auto alone = module(x[b]);
    const auto batch_of_one = module(heed::slice(x, 0, b, b + 1));
    CHECK(equal(alone, batch_of_one[0]));
    CHECK(almost_equal(alone, y[b]));
    CHECK(almost_equal(module.weights(x[b]), weights[b]));
  }
  heed::Generator rng(5), again(5);
  const auto dropped = module(heed::slice(x, 0, 0, 1), again);
  CHECK(equal(module(x[0], rng), dropped[0]));
  CHECK(same_state(rng, again));
}

TEMPLATE_LIST_TEST_CASE("every module takes x in any layout", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using ColMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
  const auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 2, 6, 5);
  const auto y = module(x);
  const RowMajor row_major = x[0].matrix();
  const ColMajor column_major = x[0].matrix();
  const Eigen::Matrix<T, 6, 5> fixed = x[0].matrix();
  const Eigen::Ref<const ColMajor> ref = column_major;
  const ColMajor turned = x[0].matrix().transpose();
  ColMajor framed = ColMajor::Constant(9, 9, std::numeric_limits<T>::quiet_NaN());
  framed.block(2, 3, 6, 5) = column_major;
  const auto expected = module(x[0]);
  CHECK(equal(module(row_major), expected));
  CHECK(equal(module(column_major), expected));
  CHECK(equal(module(fixed), expected));
  CHECK(equal(module(ref), expected));
  CHECK(equal(module(ColMajor(column_major)), expected));
  CHECK(equal(module(turned.transpose()), expected));
  CHECK(equal(module(framed.block(2, 3, 6, 5)), expected));
  CHECK(equal(module(heed::copy(x[0])), expected));

  // A batch of which every second token counts, and one whose sentences are one and the same memory.
  heed::Tensor<T, 3> spread(2, 12, 5);
  spread.fill(std::numeric_limits<T>::quiet_NaN());
  heed::copy_into(heed::slice(spread, 1, 0, 12, 2), x);
  CHECK(equal(module(heed::slice(spread, 1, 0, 12, 2)), y));
  const auto repeated = module(heed::view(x.data(), {3, 6, 5}, {0, 5, 1}));
  for (Index b = 0; b < 3; ++b) CHECK(equal(repeated[b], y[0]));
}

TEMPLATE_LIST_TEST_CASE("every module writes into memory of any layout and leaves the gaps alone", "[nn][conformance]",
                        Modules) {
  using T = typename TestType::value_type;
  using ColMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
  const auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 2, 6, 5);
  const auto y = module(x);
  const Index width = module.d_out();

  heed::Tensor<T, 3> padded(2, 12, width);
  padded.fill(77);
  const auto every_second = heed::slice(padded, 1, 1, 12, 2);
  module.into(every_second, x);
  module.into(every_second, x);  // as often as one likes
  CHECK(equal(every_second, y));
  CHECK(all_equal_to(heed::slice(padded, 1, 0, 12, 2), 77));

  ColMajor framed = ColMajor::Constant(8, width + 3, 77);
  module.into(framed.block(1, 2, 6, width), x[1]);
  CHECK(equal(framed.block(1, 2, 6, width), module(x[1])));
  CHECK((framed.array() == 77).count() == 8 * (width + 3) - 6 * width);

  // From some columns of a matrix into others.
  ColMajor both(6, 5 + width);
  both.leftCols(5) = x[0].matrix();
  module.into(both.rightCols(width), both.leftCols(5));
  CHECK(equal(both.rightCols(width), module(x[0])));
}

TEMPLATE_LIST_TEST_CASE("the output of every module is its weights times its values", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 2, 6, 5);
  // Values that are the first features of x, whatever the module calls its parameters.
  for (const auto& parameter : module.parameters()) {
    const bool is_value = parameter.name.find("W_value") != std::string::npos;
    const bool is_output = parameter.name.find("out_proj") != std::string::npos;
    if (!is_value && !is_output) continue;
    std::fill(parameter.value.begin(), parameter.value.end(), T(0));
    if (parameter.shape.size() == 1) continue;
    for (Index i = 0; i < std::min(parameter.shape[0], parameter.shape[1]); ++i)
      parameter.value[static_cast<std::size_t>(i * parameter.shape[1] + i)] = 1;
  }
  const auto y = module(x);
  const auto weights = module.weights(x);
  const Index heads = module.num_heads();
  const Index size = module.d_out() / heads;
  const bool is_wrapper = module.parameters()[0].name.starts_with("heads");
  Out<TestType> expected(y.shape());
  for (Index b = 0; b < 2; ++b)
    for (Index i = 0; i < 6; ++i)
      for (Index c = 0; c < module.d_out(); ++c) {
        const Index feature = is_wrapper ? c % size : c;
        for (Index j = 0; j < 6; ++j)
          expected(b, i, c) += weights(b, c / size, i, j) * (feature < 5 ? x(b, j, feature) : T(0));
      }
  CHECK(almost_equal(y, expected));
}

TEMPLATE_LIST_TEST_CASE("every module takes nothing: no tokens, no sentences", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  const auto module = made<TestType>();
  const Index d = module.d_out();
  const Index h = module.num_heads();
  CHECK(module(heed::Tensor<T, 2>(0, 5)).shape() == heed::Shape(0, d));
  CHECK(module(heed::Tensor<T, 3>(2, 0, 5)).shape() == heed::Shape(2, 0, d));
  CHECK(module(heed::Tensor<T, 3>(0, 6, 5)).shape() == heed::Shape(0, 6, d));
  CHECK(module.weights(heed::Tensor<T, 2>(0, 5)).shape() == heed::Shape(h, 0, 0));
  CHECK(module.weights(heed::Tensor<T, 3>(0, 6, 5)).shape() == heed::Shape(0, h, 6, 6));
  heed::Generator rng(1);
  module(heed::Tensor<T, 3>(0, 6, 5), rng);
  CHECK(same_state(rng, heed::Generator(1)));
  CHECK(module(heed::Tensor<T, 2>(1, 5)).shape() == heed::Shape(1, d));
}

TEMPLATE_LIST_TEST_CASE("a random source turns dropout on where a module has it", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  const auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 2, 6, 5);
  const auto y = module(x);
  heed::Generator rng(9);
  heed::Philox philox{9, 4};
  CHECK(equal(module(x, rng), y) == !drops<TestType>);
  CHECK(equal(module(x, philox), y) == !drops<TestType>);
  const Index draws = drops<TestType> ? 2 * module.num_heads() * 6 * 6 : 0;
  CHECK(same_state(rng, advanced<double>(heed::Generator(9), draws)));
  CHECK(same_state(philox, heed::Philox{9, 5}));
  // What a Philox drops in a sentence does not depend on those after it.
  const auto dropped = module(x, heed::Philox{9, 5});
  CHECK(almost_equal(module(x[0], heed::Philox{9, 5}), dropped[0]));

  const auto without = made<TestType>(77, 0);
  CHECK(equal(without(x, rng), y));
  CHECK(same_state(rng, advanced<double>(heed::Generator(9), draws)));
}

TEMPLATE_LIST_TEST_CASE("dropout of every module scales what is left by 1 / (1 - p)", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  const auto module = made<TestType>(77, 0.25);
  const auto x = random_tensor<T>(1, 2, 7, 5);
  const auto plain = module.weights(x);
  heed::Generator rng(9);
  heed::Philox philox{9, 4};
  Index zeros = 0;
  const auto scaled = [&](T weight, T kept) {
    if (!drops<TestType>) return weight == kept;
    if (kept == 0 && weight != 0) ++zeros;
    return kept == 0 || kept == weight * (1 / T(0.75));
  };
  CHECK(all_of_pairs(plain, module.weights(x, rng), scaled));
  CHECK(all_of_pairs(plain, module.weights(x, philox), scaled));
  CHECK((zeros > 0) == drops<TestType>);
}

TEMPLATE_LIST_TEST_CASE("every module refuses what does not fit and changes nothing then", "[nn][conformance]",
                        Modules) {
  using T = typename TestType::value_type;
  const auto module = made<TestType>();
  const std::string name = TestType::name;
  heed::Generator rng(9);
  heed::Philox philox{9, 4};
  const heed::Tensor<T, 3> wide(2, 6, 4), x(2, 6, 5);
  CHECK(says(shape_error_of([&] { module(wide, rng); }), name, "x is ℝ^{2×6×4}", "d_in = 5"));
  CHECK(says(shape_error_of([&] { module(wide[0], philox); }), name, "x is ℝ^{6×4}", "d_in = 5"));
  CHECK(says(shape_error_of([&] { module.weights(wide, rng); }), name, "x is ℝ^{2×6×4}", "d_in = 5"));
  heed::Tensor<T, 3> out(2, 5, module.d_out());
  CHECK(says(shape_error_of([&] { module.into(out, x, philox); }), name, "out is " + heed::to_string(out.shape()),
             "the result is " + heed::to_string(heed::Shape(2, 6, module.d_out()))));
  const heed::Tensor<bool, 2> mask(6, 5);
  CHECK(says(shape_error_of([&] { module(x, rng, heed::mask(mask)); }), name, "mask is ℝ^{6×5}",
             "scores " + heed::to_string(heed::Shape(2, module.num_heads(), 6, 6))));
  CHECK(says(shape_error_of([&] { module(x, philox, heed::key_lengths({7, 6})); }), name, "key_lengths", "7"));
  CHECK(same_state(rng, heed::Generator(9)));
  CHECK(same_state(philox, heed::Philox{9, 4}));
  CHECK(all_equal_to(out, 0));

  for (const Index size : {Index{0}, Index{-2}}) {
    heed::AttentionConfig config = small_config();
    config.d_in = size;
    CHECK(says(config_error_of<TestType>(config), name, "d_in", "got " + std::to_string(size)));
    config = small_config();
    config.d_out = size;
    CHECK(says(config_error_of<TestType>(config), name, "d_out", "got " + std::to_string(size)));
  }
}

TEMPLATE_LIST_TEST_CASE("the parameters of every module are all there is to it", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  auto module = made<TestType>();
  auto other = made<TestType>(78);
  const auto x = random_tensor<T>(1, 6, 5);
  CHECK_FALSE(equal(module(x), other(x)));
  const auto from = std::as_const(module).parameters();
  const auto to = other.parameters();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    CHECK(from[i].name == to[i].name);
    CHECK(from[i].shape == to[i].shape);
    Index count = 1;
    for (const Index size : from[i].shape) count *= size;
    CHECK(static_cast<Index>(from[i].value.size()) == count);
    std::copy(from[i].value.begin(), from[i].value.end(), to[i].value.begin());
  }
  CHECK(equal(module(x), other(x)));
}

TEMPLATE_LIST_TEST_CASE("no call of a module writes over its parameters", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 1, 5);
  const Index heads = module.num_heads();
  heed::Tensor<T, 2> out(1, module.d_out());
  heed::Generator rng(9);
  for (const auto& parameter : module.parameters()) {
    INFO(parameter.name);
    const std::vector<T> before(parameter.value.begin(), parameter.value.end());
    const Index size = static_cast<Index>(parameter.value.size());
    T* const last = parameter.value.data() + size;
    if (size >= module.d_out()) {
      const auto inside = heed::view(last - module.d_out(), {Index{1}, module.d_out()});
      CHECK(says(error_of([&] { module.into(inside, x, rng); }), TestType::name, "out", "share", "parameter"));
    }
    const auto lse = heed::view(last - heads, {heads, Index{1}});
    CHECK(
        says(error_of([&] { module.into(out, x, rng, heed::logsumexp(lse)); }), TestType::name, "logsumexp", "share"));
    CHECK(says(error_of([&] { module.weights(x, rng, heed::logsumexp(lse)); }), TestType::name, "logsumexp", "share"));
    CHECK(std::equal(before.begin(), before.end(), parameter.value.begin()));
  }
  CHECK(all_equal_to(out, 0));
  CHECK(same_state(rng, heed::Generator(9)));
}

TEMPLATE_LIST_TEST_CASE("a copy of a module is a module of its own", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  auto module = made<TestType>();
  auto copy = module;
  const auto x = random_tensor<T>(1, 6, 5);
  const auto y = module(x);
  CHECK(equal(copy(x), y));
  for (const auto& parameter : copy.parameters()) parameter.value[0] += 1;
  CHECK_FALSE(equal(copy(x), y));
  CHECK(equal(module(x), y));
  copy = module;
  CHECK(equal(copy(x), y));
  const TestType moved = std::move(copy);
  CHECK(equal(moved(x), y));
}

TEMPLATE_LIST_TEST_CASE("several threads may call one module", "[nn][conformance]", Modules) {
  using T = typename TestType::value_type;
  const auto module = made<TestType>();
  const auto x = random_tensor<T>(1, 2, 7, 5);
  heed::Philox philox{1, 2};
  const auto expected = module(x, philox);
  const auto weights = module.weights(x);
  std::vector<char> right(4, 0);
  std::vector<std::thread> threads;
  for (char& answer : right)
    threads.emplace_back([&] {
      bool all = true;
      for (int repeat = 0; repeat < 10; ++repeat) {
        heed::Philox own{1, 2};
        all = all && equal(module(x, own), expected) && equal(module.weights(x), weights);
      }
      answer = all ? 1 : 0;
    });
  for (auto& thread : threads) thread.join();
  CHECK(right == std::vector<char>(4, 1));
}
