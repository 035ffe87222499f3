#include <heed/core/shape.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

using core_tests::shape_error;
using heed::Index;
using heed::Shape;
using heed::Strides;

TEST_CASE("an Index counts past 2^31 and is Eigen's", "[core][shape]") {
  STATIC_REQUIRE(std::is_same_v<Index, Eigen::Index>);
  STATIC_REQUIRE(sizeof(Index) == sizeof(void*));
}

TEST_CASE("a shape is a list of sizes like std::array", "[core][shape]") {
  Shape<3> shape(2, 6, 3);
  CHECK(shape.rank() == 3);
  CHECK(shape.size() == 3);
  CHECK(shape[0] == 2);
  CHECK(shape[std::size_t{1}] == 6);
  CHECK(shape[Index{2}] == 3);
  CHECK(shape.front() == 2);
  CHECK(shape.back() == 3);
  Index sum = 0;
  for (const Index size : shape) sum += size;
  CHECK(sum == 11);
  shape[1] = 7;
  CHECK(shape == Shape<3>(2, 7, 3));
}

TEST_CASE("shapes are equal where all sizes are", "[core][shape]") {
  CHECK(Shape<3>(2, 6, 3) == Shape<3>{2, 6, 3});
  CHECK(Shape<3>(2, 6, 3) != Shape<3>(2, 3, 6));
  CHECK(Shape<2>() == Shape<2>(0, 0));
}

TEST_CASE("a shape takes structured bindings and deduces its rank", "[core][shape]") {
  const auto [batch, tokens, size] = Shape<3>(2, 6, 3);
  CHECK(batch == 2);
  CHECK(tokens == 6);
  CHECK(size == 3);
  STATIC_REQUIRE(std::is_same_v<decltype(Shape(2, std::int64_t{6}, 3U)), Shape<3>>);
}

TEST_CASE("a shape is built from exactly its number of integers", "[core][shape]") {
  STATIC_REQUIRE(std::is_constructible_v<Shape<2>, int, std::size_t>);
  STATIC_REQUIRE(!std::is_constructible_v<Shape<2>, int>);
  STATIC_REQUIRE(!std::is_constructible_v<Shape<2>, int, int, int>);
  STATIC_REQUIRE(!std::is_constructible_v<Shape<2>, float, int>);
  STATIC_REQUIRE(!std::is_constructible_v<Shape<2>, bool, int>);
  STATIC_REQUIRE(!std::is_convertible_v<int, Shape<1>>);
}

TEST_CASE("a shape works at compile time", "[core][shape]") {
  constexpr Shape<3> shape(2, 6, 3);
  STATIC_REQUIRE(shape[1] == 6);
  STATIC_REQUIRE(heed::detail::element_count(shape) == 36);
  STATIC_REQUIRE(heed::detail::row_major_strides(shape) == Strides<3>{18, 3, 1});
}

TEST_CASE("a shape reads as in mathematics", "[core][shape]") {
  CHECK(heed::to_string(Shape<1>(6)) == "ℝ^{6}");
  CHECK(heed::to_string(Shape<3>(2, 6, 3)) == "ℝ^{2×6×3}");
  CHECK(heed::to_string(Shape<2>(0, -1)) == "ℝ^{0×-1}");
  CHECK(heed::to_string(Shape<1>(Index{1} << 40)) == "ℝ^{1099511627776}");
}

TEST_CASE("elements are counted in 64 bits", "[core][shape]") {
  CHECK(heed::detail::element_count(Shape<2>(Index{1} << 20, Index{1} << 20)) == Index{1} << 40);
  CHECK(heed::detail::element_count(Shape<3>(4, 0, 5)) == 0);
  CHECK(heed::detail::row_major_strides(Shape<3>(2, Index{1} << 20, Index{1} << 20)) ==
        Strides<3>{Index{1} << 40, Index{1} << 20, 1});
}

TEST_CASE("a negative size is refused with function and shape", "[core][shape]") {
  const auto message = shape_error([] { heed::detail::check_sizes("heed::f", Shape<2>(3, -1)); });
  CHECK(message == "heed::f: sizes must not be negative, got ℝ^{3×-1}");
  CHECK_NOTHROW(heed::detail::check_sizes("heed::f", Shape<2>(3, 0)));
  // Also where a zero comes before or the product is positive again.
  CHECK_THROWS_AS(heed::detail::check_sizes("heed::f", Shape<2>(0, -1)), heed::ShapeError);
  CHECK_THROWS_AS(heed::detail::check_sizes("heed::f", Shape<2>(-2, -3)), heed::ShapeError);
}

TEST_CASE("more elements than an Index can count are refused", "[core][shape]") {
  constexpr Index most = std::numeric_limits<Index>::max();
  CHECK_NOTHROW(heed::detail::check_sizes("heed::f", Shape<2>(1, most)));
  CHECK_NOTHROW(heed::detail::check_sizes("heed::f", Shape<2>(2, most / 2)));
  CHECK_THROWS_AS(heed::detail::check_sizes("heed::f", Shape<2>(2, most / 2 + 1)), heed::ShapeError);
  const auto message =
      shape_error([] { heed::detail::check_sizes("heed::f", Shape<2>(Index{1} << 40, Index{1} << 40)); });
  CHECK(message == "heed::f: ℝ^{1099511627776×1099511627776} has more elements than a heed::Index can count");
}

TEST_CASE("an empty tensor too must have strides that an Index can hold", "[core][shape]") {
  constexpr Index most = std::numeric_limits<Index>::max();
  CHECK_NOTHROW(heed::detail::check_sizes("heed::f", Shape<2>(0, most)));
  CHECK_THROWS_AS(heed::detail::check_sizes("heed::f", Shape<3>(0, most, most)), heed::ShapeError);
  CHECK_THROWS_AS(heed::detail::check_sizes("heed::f", Shape<3>(most, 2, 0)), heed::ShapeError);
}

TEST_CASE("an axis below zero counts from the end and one that does not exist is refused", "[core][shape]") {
  const Shape<3> shape(2, 6, 3);
  for (int axis = 0; axis < 3; ++axis) {
    CHECK(heed::detail::checked_axis("heed::f", axis, shape) == axis);
    CHECK(heed::detail::checked_axis("heed::f", axis - 3, shape) == axis);
  }
  CHECK(shape_error([&] { heed::detail::checked_axis("heed::f", 3, shape); }) ==
        "heed::f: there is no axis 3 in ℝ^{2×6×3}");
  CHECK(shape_error([&] { heed::detail::checked_axis("heed::f", -4, shape); }) ==
        "heed::f: there is no axis -4 in ℝ^{2×6×3}");
}
