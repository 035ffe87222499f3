#include <heed/core/error.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <stdexcept>
#include <type_traits>

using core_tests::shape_error;
using core_tests::value_error;

namespace {

void first_handler(const char*) {}
void second_handler(const char*) {}

}  // namespace

TEST_CASE("a ShapeError can be caught as std::invalid_argument", "[core][error]") {
  STATIC_REQUIRE(std::is_base_of_v<std::invalid_argument, heed::ShapeError>);
  CHECK_THROWS_AS(heed::detail::fail_shape({"sizes"}), std::invalid_argument);
}

TEST_CASE("an error carries its message unchanged", "[core][error]") {
  CHECK(shape_error([] { heed::detail::fail_shape({"heed::f: x is ℝ^{2×3}"}); }) == "heed::f: x is ℝ^{2×3}");
  CHECK(value_error([] { heed::detail::fail_value({"heed::f: p is 2"}); }) == "heed::f: p is 2");
}

TEST_CASE("set_error_handler returns the handler before, none at first", "[core][error]") {
  const heed::ErrorHandler before = heed::set_error_handler(first_handler);
  CHECK(heed::set_error_handler(second_handler) == first_handler);
  CHECK(heed::set_error_handler(before) == second_handler);
  CHECK(before == nullptr);
}

TEST_CASE("with exceptions an error is thrown and the handler is left alone", "[core][error]") {
  static int calls = 0;
  const heed::ErrorHandler before = heed::set_error_handler([](const char*) { ++calls; });
  CHECK_THROWS_AS(heed::detail::fail_shape({"sizes"}), heed::ShapeError);
  heed::set_error_handler(before);
  CHECK(calls == 0);
}
