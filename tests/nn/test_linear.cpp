#include <heed/nn/linear.hpp>

#include "catch.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

/// A layer with these parameters.
template <class T>
heed::Linear<T> layer_with(const heed::Tensor<T, 2>& weight, const heed::Tensor<T, 1>& bias = {}) {
  heed::Generator rng(1);
  heed::Linear<T> linear(weight.shape()[1], weight.shape()[0], bias.size() > 0, rng);
  heed::copy_into(linear.weight(), weight);
  heed::copy_into(linear.bias(), bias);
  return linear;
}

heed::Linear<float> random_layer(Index d_in, Index d_out, bool bias = true) {
  heed::Generator rng(static_cast<std::uint64_t>(100 * d_in + d_out));
  return {d_in, d_out, bias, rng};
}

template <class L>
concept HasWeight = requires(L&& linear) {
  std::forward<L>(linear).weight();
};
template <class L>
concept HasBias = requires(L&& linear) {
  std::forward<L>(linear).bias();
};
template <class L>
concept HasParameters = requires(L&& linear) {
  std::forward<L>(linear).parameters();
};

}  // namespace

TEST_CASE("a linear layer multiplies by the transposed weight and adds the bias", "[nn][linear]") {
  const auto linear = layer_with<float>({{1, 2, 3}, {4, 5, 6}}, {100, 200});
  CHECK(linear.d_in() == 3);
  CHECK(linear.d_out() == 2);
  const heed::Tensor<float, 2> x{{1, 0, 0}, {0, 1, 0}, {1, 1, 2}};
  CHECK(equal(linear(x), heed::Tensor<float, 2>{{101, 204}, {102, 205}, {109, 221}}));
}

TEST_CASE("a linear layer without bias adds nothing", "[nn][linear]") {
  const auto linear = layer_with<double>({{1, 2}, {3, 4}});
  CHECK(linear.bias().size() == 0);
  CHECK(equal(linear(heed::Tensor<double, 2>{{1, 0}, {0, 1}}), heed::Tensor<double, 2>{{1, 3}, {2, 4}}));
}

TEST_CASE("a linear layer takes x of any rank", "[nn][linear]") {
  const auto linear = random_layer(4, 3);
  const auto x = random_tensor<float>(1, 2, 2, 3, 2, 4);
  const heed::Tensor<float, 5> y = linear(x);
  REQUIRE(y.shape() == heed::Shape(2, 2, 3, 2, 3));
  CHECK(equal(linear(x[1]), y[1]));
  CHECK(equal(linear(x[1][0]), y[1][0]));
  CHECK(equal(linear(x[1][0][2]), y[1][0][2]));
  const heed::Tensor<float, 1> row = linear(x[1][0][2][1]);
  CHECK(almost_equal(row, y[1][0][2][1]));
}

TEST_CASE("a linear layer of any size is the plain sum of products", "[nn][linear]") {
  const auto check = [](Index rows, Index d_in, Index d_out) {
    const auto linear = random_layer(d_in, d_out);
    const auto x = random_tensor<float>(2, rows, d_in);
    heed::Tensor<float, 2> expected(rows, d_out);
    for (Index i = 0; i < rows; ++i)
      for (Index o = 0; o < d_out; ++o) {
        double sum = static_cast<double>(linear.bias()(o));
        for (Index c = 0; c < d_in; ++c)
          sum += static_cast<double>(x(i, c)) * static_cast<double>(linear.weight()(o, c));
        expected(i, o) = static_cast<float>(sum);
      }
    return almost_equal(linear(x), expected, 16);
  };
  CHECK(check(1, 1, 1));
  CHECK(check(3, 7, 5));
  CHECK(check(17, 33, 9));
  CHECK(check(1, 147, 65));
  CHECK(check(70, 64, 48));
}

TEST_CASE("a linear layer gives the same for x in any layout", "[nn][linear]") {
  const auto linear = random_layer(6, 5);
  const auto x = random_tensor<float>(3, 4, 6);
  const auto expected = linear(x);
  const Eigen::MatrixXf eigen = x.matrix();
  CHECK(equal(linear(eigen), expected));
  const Eigen::Matrix<float, 4, 6, Eigen::RowMajor> fixed = x.matrix();
  CHECK(equal(linear(fixed), expected));
  CHECK(equal(linear(Eigen::MatrixXf(eigen)), expected));
  const heed::Tensor<float, 2> turned = heed::copy(heed::transpose(x, 0, 1));
  CHECK(equal(linear(heed::transpose(turned, 0, 1)), expected));

  // Every second row and column of memory that is NaN elsewhere.
  Eigen::MatrixXf spread = Eigen::MatrixXf::Constant(8, 12, std::numeric_limits<float>::quiet_NaN());
  const auto sparse = heed::view(spread.data(), {4, 6}, {2, 16});
  heed::copy_into(sparse, x);
  CHECK(equal(linear(sparse), expected));

  // Reversed rows, and one row repeated.
  const auto reversed = linear(heed::view(x.data() + 18, {4, 6}, {-6, 1}));
  for (Index i = 0; i < 4; ++i) CHECK(equal(reversed[i], expected[3 - i]));
  const auto repeated = linear(heed::view(x.data(), {4, 6}, {0, 1}));
  for (Index i = 0; i < 4; ++i) CHECK(equal(repeated[i], expected[0]));
}

TEST_CASE("a linear layer writes into memory of any layout and leaves the gaps alone", "[nn][linear]") {
  const auto linear = random_layer(3, 2);
  const auto x = random_tensor<float>(4, 2, 4, 3);
  const auto expected = linear(x);

  Eigen::MatrixXf whole = Eigen::MatrixXf::Constant(6, 5, 77);
  linear.into(whole.block(1, 2, 4, 2), x[0]);
  CHECK(equal(whole.block(1, 2, 4, 2), expected[0]));
  CHECK((whole.array() == 77).count() == 30 - 8);

  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> row_major(4, 2);
  linear.into(row_major, x[1]);
  CHECK(equal(row_major, expected[1]));

  heed::Tensor<float, 3> padded(2, 8, 2);
  padded.fill(77);
  const auto every_second = heed::slice(padded, 1, 0, 8, 2);
  linear.into(every_second, x);
  linear.into(every_second, x);
  CHECK(equal(every_second, expected));
  CHECK(all_equal_to(heed::slice(padded, 1, 1, 8, 2), 77));
}

TEST_CASE("a linear layer of nothing is nothing", "[nn][linear]") {
  const auto linear = random_layer(3, 2);
  CHECK(linear(heed::Tensor<float, 2>(0, 3)).shape() == heed::Shape(0, 2));
  CHECK(linear(heed::Tensor<float, 3>(0, 4, 3)).shape() == heed::Shape(0, 4, 2));
  CHECK(linear(heed::Tensor<float, 3>(4, 0, 3)).shape() == heed::Shape(4, 0, 2));
}

TEST_CASE("NaN in one row stays in that row of a linear layer", "[nn][linear]") {
  const auto check = [](Index d_in, Index d_out) {
    const auto linear = random_layer(d_in, d_out);
    auto x = random_tensor<float>(5, 9, d_in);
    const auto expected = linear(x);
    x(4, d_in - 1) = std::numeric_limits<float>::quiet_NaN();
    const auto y = linear(x);
    bool right = true;
    for (Index i = 0; i < 9; ++i)
      for (Index o = 0; o < d_out; ++o) right = right && (i == 4 ? std::isnan(y(i, o)) : y(i, o) == expected(i, o));
    return right;
  };
  CHECK(check(3, 2));
  CHECK(check(32, 24));
}

TEST_CASE("a linear layer refuses x of another inner size", "[nn][linear]") {
  const auto linear = random_layer(3, 2);
  CHECK(says(shape_error_of([&] { linear(heed::Tensor<float, 3>(2, 6, 4)); }), "heed::Linear", "x is ℝ^{2×6×4}", "d_in",
             "ℝ^{2×3}"));
  CHECK(says(shape_error_of([&] { linear(heed::Tensor<float, 1>(2)); }), "heed::Linear", "x is ℝ^{2}"));
  CHECK(says(shape_error_of([&] { linear(heed::Tensor<float, 2>(3, 0)); }), "x is ℝ^{3×0}"));
}

TEST_CASE("a linear layer refuses an output of another shape", "[nn][linear]") {
  const auto linear = random_layer(3, 2);
  const heed::Tensor<float, 2> x(6, 3);
  heed::Tensor<float, 2> out(6, 3);
  CHECK(says(shape_error_of([&] { linear.into(out, x); }), "heed::Linear", "out is ℝ^{6×3}", "the result is ℝ^{6×2}"));
  heed::Tensor<float, 2> shorter(5, 2);
  CHECK(says(shape_error_of([&] { linear.into(shorter, x); }), "out is ℝ^{5×2}"));
}

TEST_CASE("a linear layer refuses an output that shares elements with what it reads, and leaves it alone",
          "[nn][linear]") {
  heed::Generator rng(5);
  heed::Linear<float> square(4, 4, true, rng);
  auto x = random_tensor<float>(6, 8, 4);
  const auto before = x;
  const auto upper = heed::slice(x, 0, 0, 4);
  CHECK(says(error_of([&] { square.into(upper, upper); }), "heed::Linear", "out", "shares", "x"));
  CHECK(says(error_of([&] { square.into(heed::slice(x, 0, 3, 7), upper); }), "heed::Linear", "shares"));
  CHECK(equal(x, before));
  const auto weight = heed::copy(square.weight());
  CHECK(says(error_of([&] { square.into(square.weight(), upper); }), "heed::Linear", "out", "shares", "weight"));
  CHECK(equal(square.weight(), weight));
  const auto bias = heed::copy(square.bias());
  CHECK(says(error_of([&] { square.into(square.bias(), x[0]); }), "heed::Linear", "out", "shares", "bias"));
  CHECK(equal(square.bias(), bias));
  heed::Tensor<float, 1> one(1);
  CHECK(says(error_of([&] { square.into(heed::view(one.data(), {4, 4}, {0, 0}), upper); }), "heed::Linear", "out"));
}

TEST_CASE("a linear layer works from some columns of a matrix into others", "[nn][linear]") {
  const auto linear = random_layer(3, 2);
  Eigen::MatrixXf both = Eigen::MatrixXf::Random(6, 5);
  const auto expected = linear(both.leftCols(3));
  linear.into(both.rightCols(2), both.leftCols(3));
  CHECK(equal(both.rightCols(2), expected));
}

TEMPLATE_TEST_CASE("a linear layer draws its weight, then its bias, by one fma a number", "[nn][linear]", float,
                   double) {
  using T = TestType;
  heed::Generator rng(123);
  const heed::Linear<T> linear(7, 4, true, rng);
  heed::Generator again(123);
  const T weight_bound = static_cast<T>(std::sqrt(3.0) * (std::sqrt(2.0 / 6.0) / std::sqrt(7.0)));
  for (Index o = 0; o < 4; ++o)
    for (Index i = 0; i < 7; ++i)
      CHECK(linear.weight()(o, i) == std::fma(again.uniform<T>(), 2 * weight_bound, -weight_bound));
  const T bias_bound = static_cast<T>(1 / std::sqrt(7.0));
  for (Index o = 0; o < 4; ++o) CHECK(linear.bias()(o) == std::fma(again.uniform<T>(), 2 * bias_bound, -bias_bound));
  CHECK(same_state(rng, again));

  heed::Generator without(123);
  const heed::Linear<T> plain(7, 4, false, without);
  CHECK(equal(plain.weight(), linear.weight()));
  CHECK(same_state(without, advanced<T>(heed::Generator(123), 28)));
}

TEST_CASE("a linear layer refuses sizes below one and draws nothing then", "[nn][linear]") {
  heed::Generator rng(3);
  CHECK(says(shape_error_of([&] { heed::Linear<float>(0, 2, true, rng); }), "heed::Linear", "d_in", "got 0"));
  CHECK(says(shape_error_of([&] { heed::Linear<float>(-4, 2, true, rng); }), "heed::Linear", "d_in", "got -4"));
  CHECK(says(shape_error_of([&] { heed::Linear<float>(3, 0, true, rng); }), "heed::Linear", "d_out", "got 0"));
  CHECK(says(shape_error_of([&] { heed::Linear<float>(3, -1, false, rng); }), "heed::Linear", "d_out", "got -1"));
  CHECK(same_state(rng, heed::Generator(3)));
}

TEST_CASE("the parameters of a linear layer are its weight and bias themselves", "[nn][linear]") {
  auto linear = random_layer(3, 2);
  const auto all = linear.parameters();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "weight");
  CHECK(all[0].shape == std::vector<Index>{2, 3});
  CHECK(all[0].value.data() == linear.weight().data());
  CHECK(all[0].grad.empty());
  CHECK(all[1].name == "bias");
  CHECK(all[1].shape == std::vector<Index>{2});
  CHECK(all[1].value.data() == linear.bias().data());
  for (const auto& parameter : all) std::fill(parameter.value.begin(), parameter.value.end(), 1.0F);
  CHECK(equal(linear(heed::Tensor<float, 1>{1, 2, 3}), heed::Tensor<float, 1>{7, 7}));

  const auto& constant = std::as_const(linear);
  STATIC_REQUIRE(same<decltype(constant.parameters()), std::vector<heed::Parameter<const float>>>);
  STATIC_REQUIRE(same<decltype(constant.weight()), heed::TensorView<const float, 2>>);
  STATIC_REQUIRE(same<decltype(constant.bias()), heed::TensorView<const float, 1>>);
  CHECK(constant.parameters()[0].value.data() == linear.weight().data());

  const auto plain = random_layer(3, 2, false);
  REQUIRE(plain.parameters().size() == 1);
  CHECK(plain.parameters()[0].name == "weight");
}

TEST_CASE("a temporary linear layer gives no views of itself", "[nn][linear]") {
  STATIC_REQUIRE(HasWeight<heed::Linear<>&>);
  STATIC_REQUIRE_FALSE(HasWeight<heed::Linear<>>);
  STATIC_REQUIRE(HasBias<const heed::Linear<>&>);
  STATIC_REQUIRE_FALSE(HasBias<heed::Linear<>>);
  STATIC_REQUIRE(HasParameters<heed::Linear<>&>);
  STATIC_REQUIRE_FALSE(HasParameters<heed::Linear<>>);
}

TEST_CASE("a copy of a linear layer is a layer of its own", "[nn][linear]") {
  auto linear = random_layer(3, 2);
  const auto original = linear;
  linear.weight()(0, 0) += 1;
  linear.bias()(1) += 1;
  CHECK(linear.weight()(0, 0) != original.weight()(0, 0));
  CHECK(linear.bias()(1) != original.bias()(1));
}

TEST_CASE("a linear layer is of float unless told otherwise", "[nn][linear]") {
  heed::Generator rng(1);
  const heed::Linear linear(3, 2, true, rng);
  STATIC_REQUIRE(same<decltype(linear), const heed::Linear<float>>);
}

TEMPLATE_TEST_CASE("a Linear layer gives the same bits for any threads and caches of Eigen", "[nn][linear]", float,
                   double) {
  heed::Generator rng(1);
  const heed::Linear<TestType> linear(600, 300, true, rng);
  const auto x = random_tensor<TestType>(2, 40, 600);
  const auto expected = linear(x);
  std::ptrdiff_t l1 = 0, l2 = 0, l3 = 0;
  Eigen::internal::manage_caching_sizes(Eigen::GetAction, &l1, &l2, &l3);
  Eigen::setCpuCacheSizes(16 * 1024, 64 * 1024, 128 * 1024);
  const auto small_caches = linear(x);
  Eigen::setCpuCacheSizes(l1, l2, l3);
  CHECK(equal(small_caches, expected));
  for (heed::Index i = 0; i < 40; i += 13) CHECK(equal(linear(x[i]), expected[i]));  // nor on the rows beside it
}
