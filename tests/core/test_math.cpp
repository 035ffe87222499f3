#include "catch.hpp"

#include <heed/core/math.hpp>

#include <cmath>
#include <limits>

TEMPLATE_TEST_CASE("exp and tanh are those of mathematics to a few units in the last place", "[core][math]", float,
                   double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  for (T x = -20; x < 20; x += T(0.37)) {
    CAPTURE(x);
    const auto near = [](T y, long double truth) {
      return std::abs(static_cast<long double>(y) - truth) <=
             4 * static_cast<long double>(std::numeric_limits<T>::epsilon()) * std::abs(truth);
    };
    CHECK(near(heed::exp(x), std::exp(static_cast<long double>(x))));
    CHECK(near(heed::tanh(x), std::tanh(static_cast<long double>(x))));
  }
  CHECK(heed::exp(T(0)) == 1);
  CHECK(heed::exp(-inf) == 0);
  CHECK(heed::exp(inf) == inf);
  CHECK(heed::tanh(inf) == 1);
  CHECK(heed::tanh(-inf) == -1);
  CHECK(std::isnan(heed::exp(std::numeric_limits<T>::quiet_NaN())));
  CHECK(std::isnan(heed::tanh(std::numeric_limits<T>::quiet_NaN())));
}
