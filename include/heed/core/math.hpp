#pragma once

#include <heed/core/config.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

namespace heed::detail::inline HEED_FLAGS {

/// What exp and tanh know of a scalar type. (The kernels have an e^x of their own, in vectors and for x ≤ 0 alone,
/// which needs no ln 2 in two parts: kernels/region/exponential.inl.)
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  using Integer = std::int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr std::int32_t exponent_bias = 127;
  static constexpr float log2_e = 0x1.715476p0f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
  static constexpr float smallest = -87.3f, largest = 88;  // between them e^x and 2^n are normal numbers
  static constexpr float saturates = 10;                   // tanh is 1 from here on
  // (e^r − 1 − r)/r² by Taylor: 1/7! … 1/2!, 2e-8 of r at |r| = ln 2 / 2.
  static constexpr float c[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f};
};
template <>
struct ExpConstants<double> {
  using Integer = std::int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr std::int32_t exponent_bias = 1023;
  static constexpr double log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double smallest = -708.3, largest = 709;
  static constexpr double saturates = 22;
  static constexpr double c[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                 1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                 1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
};

/// e^x − 1 as power·fraction + (power − 1), power = 2^n: exact steps and polynomials only, so that loops vectorise.
template <class T>
struct SplitExp {
  T power, fraction;

  /// For ExpConstants::smallest ≤ x ≤ largest.
  [[gnu::always_inline]] explicit SplitExp(T x) {
    using C = ExpConstants<T>;
    using Integer = typename C::Integer;
    // Rounded by cutting a positive number off: adding a large one instead would not survive -fassociative-math.
    const auto exponent = static_cast<std::int32_t>(x * C::log2_e + (C::exponent_bias + T(0.5)));
    const T n = static_cast<T>(exponent - C::exponent_bias);
    const T r = (x - n * C::ln2_high) - n * C::ln2_low;
    fraction = r * r * polynomial(r, std::make_index_sequence<std::size(C::c)>{}) + r;
    power = std::bit_cast<T>(static_cast<Integer>(exponent) << C::mantissa_bits);
  }

 private:
  template <std::size_t... I>
  [[gnu::always_inline]] static T polynomial(T r, std::index_sequence<I...>) {
    T sum = 0;
    ((sum = sum * r + ExpConstants<T>::c[I]), ...);
    return sum;
  }
};

// By integers, which order numbers of one sign as the numbers do (those below 0 the other way round): of a choice
// between constants GCC makes branches, and a loop with them is not vectorised.

/// x, but at most `high` ≥ 0; NaN becomes anything.
template <class T>
[[gnu::always_inline]] inline T at_most(T x, T high) {
  using Integer = typename ExpConstants<T>::Integer;
  return std::bit_cast<T>((std::min)(std::bit_cast<Integer>(x), std::bit_cast<Integer>(high)));
}
/// x, but at least `low` < 0; NaN becomes anything.
template <class T>
[[gnu::always_inline]] inline T at_least(T x, T low) {
  using Integer = std::make_unsigned_t<typename ExpConstants<T>::Integer>;
  return std::bit_cast<T>((std::min)(std::bit_cast<Integer>(x), std::bit_cast<Integer>(low)));
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// e^x to about two units in the last place, 0 where that is no normal number, infinity where it is too large. For the
/// functions given to score_mod, mask_mod and prob_mod: in a loop it becomes vector instructions, which std::exp does
/// not.
template <std::floating_point T>
[[gnu::always_inline]] inline T exp(T x) {
  using C = detail::ExpConstants<T>;
  const bool is_large = x > C::largest;  // then e^(x − 1)·e, as 2^n may be too large where e^x is not
  const detail::SplitExp<T> e(detail::at_least<T>(detail::at_most<T>(is_large ? x - 1 : x, C::largest), C::smallest));
  const T factor = x < C::smallest ? T(0) : is_large ? std::numbers::e_v<T> : x == x ? T(1) : x;
  return (e.power * e.fraction + e.power) * factor;
}

/// The hyperbolic tangent, likewise.
template <std::floating_point T>
[[gnu::always_inline]] inline T tanh(T x) {
  using C = detail::ExpConstants<T>;
  using Integer = typename C::Integer;
  constexpr Integer sign = (std::numeric_limits<Integer>::min)();
  const Integer bits = std::bit_cast<Integer>(x);
  const detail::SplitExp<T> e(2 * detail::at_most<T>(std::bit_cast<T>(bits & ~sign), C::saturates));
  const T minus_one = e.power * e.fraction + (e.power - 1);  // e^(2·|x|) − 1
  const Integer result = std::bit_cast<Integer>(minus_one / (minus_one + 2));
  return std::bit_cast<T>(result | (bits & sign) | (x == x ? Integer{0} : Integer{-1}));
}

}  // namespace heed
