#include <heed/core/generator.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"
#include "fixtures/generator.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

using core_tests::elements;
using heed::Generator;
using heed::Index;
using heed::Shape;

namespace {

template <class T>
concept HasRand = requires(Generator& rng) {
  heed::rand<T>(rng, 2, 3);
};

}  // namespace

TEST_CASE("there are uniform floats and doubles, but no integers", "[core][generator]") {
  STATIC_REQUIRE(HasRand<float>);
  STATIC_REQUIRE(HasRand<double>);
  STATIC_REQUIRE(!HasRand<int>);
}

TEST_CASE("seed 123 gives torch.rand(3, 2) of the worked example", "[core][generator]") {
  Generator rng(123);
  const auto query = heed::rand<float>(rng, 3, 2);
  CHECK(query.shape() == Shape<2>(3, 2));
  CHECK(elements(query) == std::vector<float>{0x1.2f37f8p-2F, 0x1.087adap-1F, 0x1.01b5f8p-2F, 0x1.608a84p-1F,
                                              0x1.2efdcp-4F, 0x1.bba8c4p-1F});
  // Known to six decimals. The generator goes on where it was.
  const auto key = heed::rand<float>(rng, 3, 2);
  const auto value = heed::rand<float>(rng, 3, 2);
  const float expected_key[] = {0.136580f, 0.102479f, 0.184056f, 0.726447f, 0.315254f, 0.687107f};
  const float expected_value[] = {0.075635f, 0.196638f, 0.316412f, 0.401740f, 0.118568f, 0.827395f};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(std::abs(key.data()[i] - expected_key[i]) < 1e-6f);
    CHECK(std::abs(value.data()[i] - expected_value[i]) < 1e-6f);
  }
}

TEMPLATE_TEST_CASE("uniform numbers are PyTorch's bit for bit", "[core][generator]", float, double) {
  for (const auto& c : fixtures::rand_cases<TestType>()) {
    CAPTURE(c.seed);
    Generator rng(c.seed);
    std::vector<TestType> drawn(static_cast<std::size_t>(c.count));
    for (TestType& u : drawn) u = rng.uniform<TestType>();
    const auto late = drawn.begin() + c.late_at;
    CHECK(std::equal(c.first.begin(), c.first.end(), drawn.begin()));
    CHECK(std::equal(c.late.begin(), c.late.end(), late));
    CHECK(fixtures::fnv1a(std::span<const TestType>(drawn)) == c.hash);
    CHECK(*std::min_element(drawn.begin(), drawn.end()) >= 0);
    CHECK(*std::max_element(drawn.begin(), drawn.end()) < 1);
  }
}

TEST_CASE("raw outputs are PyTorch's", "[core][generator]") {
  for (const auto& c : fixtures::raw_cases) {
    CAPTURE(c.seed);
    Generator rng(c.seed);
    Generator halves(c.seed);
    for (const std::uint64_t expected : c.first) {
      CHECK(rng.random64() == expected);
      CHECK(halves.random() == expected >> 32U);
      CHECK(halves.random() == (expected & 0xffffffffU));
    }
  }
}

TEST_CASE("floats and doubles drawn in turns share one sequence", "[core][generator]") {
  for (const auto& c : fixtures::mixed_cases) {
    CAPTURE(c.seed);
    Generator rng(c.seed);
    for (const float expected : c.floats) CHECK(rng.uniform<float>() == expected);
    for (const double expected : c.doubles) CHECK(rng.uniform<double>() == expected);
    for (const float expected : c.floats_too) CHECK(rng.uniform<float>() == expected);
  }
}

TEST_CASE("a seed counts in its low 32 bits, as in PyTorch", "[core][generator]") {
  // torch.manual_seed(0xDEADBEEF12345678) and torch.manual_seed(0x12345678): torch.rand(2)
  for (const std::uint64_t seed : {std::uint64_t{0xDEADBEEF12345678U}, std::uint64_t{0x12345678U}}) {
    Generator rng(seed);
    CHECK(rng.uniform<float>() == 0x1.2f2686p-1F);
    CHECK(rng.uniform<float>() == 0x1.8b4be8p-2F);
  }
  // torch.manual_seed(-1)
  Generator negative(static_cast<std::uint64_t>(-1));
  CHECK(negative.uniform<float>() == 0x1.fcd346p-1F);
  CHECK(Generator(1).random() != Generator(2).random());
}

TEMPLATE_TEST_CASE("a copied generator draws on from the same place, alone", "[core][generator]", float, double) {
  Generator rng(123);
  for (int i = 0; i < 700; ++i) rng.random();  // past one regeneration of the state
  Generator copied = rng;
  const auto first = heed::rand<TestType>(rng, 1000);
  const auto second = heed::rand<TestType>(copied, 1000);
  CHECK(elements(first) == elements(second));
  CHECK(rng.random() == copied.random());
  rng.random();
  CHECK(rng.random() != copied.random());
}

TEMPLATE_TEST_CASE("rand fills a tensor of any rank row by row", "[core][generator]", float, double) {
  Generator rng(5);
  Generator one_by_one(5);
  const auto x = heed::rand<TestType>(rng, 2, 3, 4, 5);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(x)>, heed::Tensor<TestType, 4>>);
  CHECK(x.shape() == Shape<4>(2, 3, 4, 5));
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 3; ++h)
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 5; ++j) CHECK(x(b, h, i, j) == one_by_one.uniform<TestType>());
}

TEST_CASE("rand draws nothing for an empty tensor and before an error", "[core][generator]") {
  Generator rng(5);
  Generator untouched = rng;
  CHECK(heed::rand<float>(rng, 0, 3).size() == 0);
  CHECK_THROWS_AS(heed::rand<float>(rng, 2, -1), heed::ShapeError);
  CHECK(rng.random() == untouched.random());
}
