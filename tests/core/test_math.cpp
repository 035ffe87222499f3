#include "catch.hpp"

#include <heed/core/math.hpp>

#include <cmath>
#include <limits>

TEMPLATE_TEST_CASE("exp and tanh are those of mathematics to a few units in the last place", "[core][math]", float,
                   double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const auto near = [](T y, long double truth) {
    return std::abs(static_cast<long double>(y) - truth) <=
           4 * static_cast<long double>(std::numeric_limits<T>::epsilon()) * std::abs(truth);
  };
  for (T x = -20; x < 20; x += T(0.37)) {
    CAPTURE(x);
    CHECK(near(heed::exp(x), std::exp(static_cast<long double>(x))));
    CHECK(near(heed::tanh(x), std::tanh(static_cast<long double>(x))));
  }
  const T largest = std::log(std::numeric_limits<T>::max()), smallest = std::log(std::numeric_limits<T>::min());
  for (T below = 0; below < 2; below += T(0.001)) {
    CAPTURE(below);
    if (below > 0) CHECK(near(heed::exp(largest - below), std::exp(static_cast<long double>(largest - below))));
    const T low = heed::exp(smallest + below);
    CHECK((low == 0 ? below < T(0.1) : near(low, std::exp(static_cast<long double>(smallest + below)))));
    CHECK(heed::exp(std::nextafter(largest, inf) + below) == inf);
    CHECK(heed::exp(smallest - below - 1) == 0);
  }
  CHECK(heed::exp(std::numeric_limits<T>::max()) == inf);
  CHECK(heed::exp(std::numeric_limits<T>::lowest()) == 0);
  CHECK(heed::exp(T(0)) == 1);
  CHECK(heed::exp(-inf) == 0);
  CHECK(heed::exp(inf) == inf);
  CHECK(heed::tanh(inf) == 1);
  CHECK(heed::tanh(-inf) == -1);
  CHECK(std::isnan(heed::exp(std::numeric_limits<T>::quiet_NaN())));
  CHECK(std::isnan(heed::tanh(std::numeric_limits<T>::quiet_NaN())));
}
