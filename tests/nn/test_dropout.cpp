#include <heed/nn/dropout.hpp>

#include "catch.hpp"

#include <cmath>
#include <limits>

#include "support/modules.hpp"

using namespace module_tests;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// x ℝ^{b×h×t×s} with each element kept where the Philox says so.
template <class T>
heed::Tensor<T, 4> dropped_by_coordinates(const heed::Tensor<T, 4>& x, double p, const heed::Philox& philox) {
  auto out = x;
  const auto [b_size, h_size, t_size, s_size] = x.shape();
  for (Index b = 0; b < b_size; ++b)
    for (Index h = 0; h < h_size; ++h)
      for (Index i = 0; i < t_size; ++i)
        for (Index j = 0; j < s_size; ++j) {
          const bool kept = philox.uniform(b, h, i, j) < 1 - p;
          out(b, h, i, j) = kept ? x(b, h, i, j) * (1 / static_cast<T>(1 - p)) : T(0);
        }
  return out;
}

}  // namespace

TEST_CASE("dropout without a random source copies", "[nn][dropout]") {
  const heed::Dropout dropout(0.5);
  const auto x = random_tensor<float>(1, 3, 4);
  const auto y = dropout(x);
  CHECK(equal(x, y));
  CHECK(x.data() != y.data());
}

TEMPLATE_TEST_CASE("sequential dropout keeps an element where a double uniform is below 1 - p, row by row",
                   "[nn][dropout]", float, double) {
  using T = TestType;
  for (const double p : {0.5, 0.1, 0.9, 0.3}) {
    const heed::Dropout<T> dropout(p);
    const auto x = random_tensor<T>(2, 3, 4, 5);
    heed::Generator rng(7);
    const auto y = dropout(x, rng);
    heed::Generator again(7);
    bool right = true;
    for (Index i = 0; i < x.size(); ++i) {
      const bool kept = again.uniform<double>() < 1 - p;
      right = right && y.data()[i] == (kept ? x.data()[i] * (1 / static_cast<T>(1 - p)) : T(0));
    }
    CHECK(right);
    CHECK(same_state(rng, again));
  }
}

TEST_CASE("sequential dropout follows the rows of x, not of its memory", "[nn][dropout]") {
  const heed::Dropout dropout(0.5);
  const auto x = random_tensor<float>(3, 5, 3);
  heed::Generator rng(1);
  const auto expected = dropout(x, rng);
  const Eigen::MatrixXf column_major = x.matrix();
  heed::Generator again(1);
  CHECK(equal(dropout(column_major, again), expected));
  heed::Generator third(1);
  CHECK(equal(dropout(Eigen::MatrixXf(column_major), third), expected));
}

TEST_CASE("dropout with p = 0 is the identity and draws nothing", "[nn][dropout]") {
  const heed::Dropout dropout(0);
  const heed::Tensor<float, 2> x{{1, -0.0F, not_a_number}, {infinity, -3, 0}};
  heed::Generator rng(1);
  CHECK(equal(dropout(x, rng), x));
  CHECK(same_state(rng, heed::Generator(1)));
  heed::Philox philox{1, 5};
  CHECK(equal(dropout(x, philox), x));
}

TEST_CASE("dropout with p = 1 gives zeros, whatever x is, and draws nothing", "[nn][dropout]") {
  const heed::Dropout dropout(1);
  const heed::Tensor<float, 2> x{{1, 2, not_a_number}, {infinity, -infinity, -4}};
  heed::Generator rng(1);
  CHECK(all_equal_to(dropout(x, rng), 0));
  CHECK(same_state(rng, heed::Generator(1)));
  heed::Philox philox{1, 5};
  CHECK(all_equal_to(dropout(x, philox), 0));
}

TEST_CASE("what dropout removes is zero even if it was NaN or infinite", "[nn][dropout]") {
  const heed::Dropout dropout(0.5);
  heed::Tensor<float, 2> x(8, 8);
  x.fill(not_a_number);
  x(0, 0) = infinity;
  heed::Philox philox{3, 0};
  const auto y = dropout(x, philox);
  Index zeros = 0;
  Index kept = 0;
  for (Index i = 0; i < x.size(); ++i) (y.data()[i] == 0 ? zeros : kept) += 1;
  CHECK(zeros > 16);
  CHECK(kept > 16);
  heed::Generator rng(3);
  const auto z = dropout(x, rng);
  CHECK((z.matrix().array() == 0).count() > 16);
  CHECK(z.matrix().array().isNaN().count() > 16);
}

TEMPLATE_TEST_CASE("dropout by a Philox looks at the coordinates alone", "[nn][dropout]", float, double) {
  using T = TestType;
  const heed::Dropout<T> dropout(0.4);
  const auto x = random_tensor<T>(4, 2, 3, 5, 9);
  const heed::Philox source{11, 2};
  const auto expected = dropped_by_coordinates(x, 0.4, source);

  heed::Philox philox = source;
  CHECK(equal(dropout(x, philox), expected));
  CHECK(philox.seed == 11);
  CHECK(philox.offset == 3);

  // Lower ranks are aligned on the right: what is missing is at 0.
  philox = source;
  CHECK(equal(dropout(x[0], philox), expected[0]));
  philox = source;
  CHECK(equal(dropout(x[0][0], philox), expected[0][0]));
  philox = source;
  CHECK(equal(dropout(x[0][0][0], philox), expected[0][0][0]));
  CHECK(philox.offset == 3);

  // A part of x from the origin on has the draws of the whole; memory order does not matter.
  philox = source;
  const auto part = heed::slice(heed::slice(x, 2, 0, 3), 3, 0, 7);
  CHECK(equal(dropout(part, philox), heed::slice(heed::slice(expected, 2, 0, 3), 3, 0, 7)));
}

TEST_CASE("the draws of a Philox depend on seed and offset", "[nn][dropout]") {
  const heed::Dropout dropout(0.5);
  heed::Tensor<float, 2> ones(16, 16);
  ones.fill(1);
  const auto drop = [&](std::uint64_t seed, std::uint64_t offset) {
    heed::Philox philox{seed, offset};
    return dropout(ones, philox);
  };
  const auto base = drop(1, 0);
  CHECK(equal(drop(1, 0), base));
  CHECK_FALSE(equal(drop(2, 0), base));
  CHECK_FALSE(equal(drop(1, 1), base));
  CHECK_FALSE(equal(drop(1, std::uint64_t{1} << 40U), base));
  CHECK_FALSE(equal(drop(std::uint64_t{1} << 40U, 0), base));
  heed::Philox philox{1, 0};
  dropout(ones, philox);
  CHECK(equal(dropout(ones, philox), drop(1, 1)));
}

TEST_CASE("dropout removes about p of the elements", "[nn][dropout]") {
  heed::Tensor<float, 2> ones(100, 100);
  ones.fill(1);
  for (const double p : {0.1, 0.5, 0.8}) {
    const heed::Dropout dropout(p);
    const double deviation = std::sqrt(p * (1 - p) / 10000);
    heed::Generator rng(1);
    heed::Philox philox{1, 0};
    const auto share_of_zeros = [](const heed::Tensor<float, 2>& y) {
      return static_cast<double>((y.matrix().array() == 0).count()) / 10000;
    };
    CHECK(std::abs(share_of_zeros(dropout(ones, rng)) - p) < 5 * deviation);
    CHECK(std::abs(share_of_zeros(dropout(ones, philox)) - p) < 5 * deviation);
  }
}

TEST_CASE("dropout refuses a probability outside [0, 1]", "[nn][dropout]") {
  const auto error = [](double p) { return error_of([&] { heed::Dropout<float> dropout(p); }); };
  CHECK(error(0) == "no error");
  CHECK(error(1) == "no error");
  CHECK(says(error(-0.5), "heed::Dropout", "p must lie in [0, 1]", "-0.5"));
  CHECK(says(error(1.25), "heed::Dropout", "p must lie in [0, 1]", "1.25"));
  CHECK(says(error(std::numeric_limits<double>::quiet_NaN()), "heed::Dropout", "p must lie", "nan"));
  CHECK(heed::Dropout(0.25).p() == 0.25);
}

TEST_CASE("dropout takes any rank and nothing at all", "[nn][dropout]") {
  const heed::Dropout dropout(0.5);
  heed::Generator rng(1);
  CHECK(dropout(heed::Tensor<float, 5>(1, 2, 1, 2, 3), rng).shape() == heed::Shape(1, 2, 1, 2, 3));
  CHECK(dropout(heed::Tensor<float, 1>(3), rng).shape() == heed::Shape<1>(3));
  heed::Generator untouched = rng;
  CHECK(dropout(heed::Tensor<float, 3>(2, 0, 3), rng).shape() == heed::Shape(2, 0, 3));
  CHECK(same_state(rng, untouched));
  heed::Philox philox{1, 0};
  CHECK(dropout(heed::Tensor<float, 4>(0, 2, 0, 3), philox).shape() == heed::Shape(0, 2, 0, 3));
}

TEST_CASE("dropout is of float unless told otherwise", "[nn][dropout]") {
  const heed::Dropout dropout(0.5);
  STATIC_REQUIRE(same<decltype(dropout), const heed::Dropout<float>>);
}
