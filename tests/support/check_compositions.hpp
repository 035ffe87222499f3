// Runs the cases of tests/fixtures/compositions.txt, in one scalar type: with each it takes half a minute to compile.
#pragma once

#include "catch.hpp"
#include "fixtures/compositions.hpp"
#include "support/compositions.hpp"

#include <heed/attention/reference.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace support {

/// For each row the sum over c of (c + 1) / e · out[c].
inline std::vector<double> folded(const std::vector<double>& out, std::size_t rows) {
  std::vector<double> sums(rows);
  const std::size_t e = rows == 0 ? 1 : out.size() / rows;
  for (std::size_t n = 0; n < out.size(); ++n)
    sums[n / e] += static_cast<double>(n % e + 1) / static_cast<double>(e) * out[n];
  return sums;
}

/// The largest error in units of the one allowed. The file has 11 digits. Zeros and infinities are exact: such rows see
/// no key.
inline double worst_error(const std::vector<double>& actual, const std::vector<double>& expected, double off) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (actual.size() != expected.size()) return wrong;
  double largest = 0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (actual[n] == expected[n]) continue;
    const double allowed = expected[n] == 0 ? 0 : off + 1e-10 * std::abs(expected[n]);
    const double ratio = std::abs(actual[n] - expected[n]) / allowed;
    largest = ratio <= largest ? largest : (ratio < wrong ? ratio : wrong);
  }
  return largest;
}

template <class T, int R>
std::vector<double> numbers(const heed::Tensor<T, R>& x) {
  return {x.data(), x.data() + x.size()};
}

inline void compare(const char* function, const std::vector<double>& out, const std::vector<double>& lse,
                    const ExpectedResults& expected, double roundoff) {
  INFO(function);
  CHECK(worst_error(expected.folded ? folded(out, lse.size()) : out, expected.out, expected.out_off * roundoff) <= 1);
  CHECK(worst_error(lse, expected.lse, expected.lse_off * roundoff) <= 1);
}

template <class T, int N>
void check_composition(const CompositionCase& c) {
  CaseArguments<T, Composition<N>::rank> x(c);
  Composition<N>::run(x, [&](const auto&... modifiers) {
    const ExpectedResults expected = x.expected();
    const auto check = [&](const char* function, const auto& out) {
      CHECK(out.shape() == x.out_shape());
      compare(function, numbers(out), numbers(x.logsumexp()), expected, std::numeric_limits<T>::epsilon() / 2);
      x.logsumexp().fill(std::numeric_limits<T>::quiet_NaN());
    };
    check("heed", heed::scaled_dot_product_attention(x.q(), x.k(), x.v(), modifiers...));
    check("heed::reference", heed::reference::scaled_dot_product_attention(x.q(), x.k(), x.v(), modifiers...));
  });
}

template <class T>
void check_compositions() {
  constexpr auto checks = []<int... N>(std::integer_sequence<int, N...>) {
    return std::array{check_composition<T, N>...};
  }
  (std::make_integer_sequence<int, composition_count>());
  const auto cases = read_composition_cases(HEED_TESTS_FIXTURES "/compositions.txt");
  REQUIRE(cases.size() == composition_case_count);
  for (const CompositionCase& c : cases) {
    INFO(c.name);
    checks.at(c.composition)(c);
  }
}

}  // namespace support
