// What the tests of nn/ share: the sentence of the worked examples, random tensors, exact and near comparison, the
// state of random sources and the messages of errors.
#pragma once

#include <heed/core/error.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/nn/attention_config.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace module_tests {

using heed::Index;

/// Whether two types are one; the macros of Catch2 2 take no commas.
template <class A, class B>
inline constexpr bool same = std::is_same_v<A, B>;

/// A config of sizes that all differ, so that a mistaken one shows. Dropout 0.5.
inline heed::AttentionConfig small_config() {
  return {.d_in = 5, .d_out = 6, .context_length = 7, .dropout = 0.5, .num_heads = 3, .qkv_bias = true};
}

/// Uniform numbers in [−1, 1).
template <class T, class... Sizes>
auto random_tensor(std::uint64_t seed, Sizes... sizes) {
  heed::Generator rng(seed);
  auto x = heed::rand<T>(rng, sizes...);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = 2 * x.data()[i] - 1;
  return x;
}

/// f(a, b) for the elements of two TensorLikes of one shape, until it is false. Different shapes are false too.
template <class A, class B, class F>
bool all_of_pairs(const A& a, const B& b, const F& f) {
  const auto v = heed::detail::const_view(a);
  const auto w = heed::detail::const_view(b);
  if (v.shape() != w.shape()) return false;
  bool all = true;
  heed::detail::for_each_element([&](const auto& x, const auto& y) { all = all && f(x, y); }, v, w);
  return all;
}

/// The same shape and the same bits.
template <class A, class B>
bool equal(const A& a, const B& b) {
  using T = heed::ScalarOf<A>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return all_of_pairs(a, b, [](T x, T y) { return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y); });
}

/// The same shape, and every difference at most `units` roundings of 1 or of the larger of the two numbers.
template <class A, class B>
bool almost_equal(const A& a, const B& b, double units = 16) {
  using T = heed::ScalarOf<A>;
  const double epsilon = units * static_cast<double>(std::numeric_limits<T>::epsilon());
  return all_of_pairs(a, b, [&](T x, T y) {
    const double u = static_cast<double>(x);
    const double v = static_cast<double>(y);
    return std::abs(u - v) <= epsilon * std::max({1.0, std::abs(u), std::abs(v)});
  });
}

/// Whether every element is exactly this.
template <class A>
bool all_equal_to(const A& a, heed::ScalarOf<A> value) {
  return all_of_pairs(a, a, [&](auto x, auto) { return x == value; });
}

template <class A>
bool all_finite(const A& a) {
  return all_of_pairs(a, a, [](auto x, auto) { return std::isfinite(x); });
}

/// Whether two generators will draw the same from here on.
inline bool same_state(heed::Generator a, heed::Generator b) {
  for (int i = 0; i < 4; ++i)
    if (a.random64() != b.random64()) return false;
  return true;
}
inline bool same_state(const heed::Philox& a, const heed::Philox& b) {
  return a.seed == b.seed && a.offset == b.offset;
}

/// The generator after so many uniform numbers of type T.
template <class T>
heed::Generator advanced(heed::Generator rng, Index draws) {
  for (Index i = 0; i < draws; ++i) rng.uniform<T>();
  return rng;
}

/// The message of the std::invalid_argument that a call throws, or what else came of it.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  } catch (...) {
    return "another exception";
  }
  return "no error";
}

/// The same for ShapeError alone.
template <class Call>
std::string shape_error_of(const Call& call) {
  try {
    call();
  } catch (const heed::ShapeError& error) {
    return error.what();
  } catch (...) {
    return "another exception";
  }
  return "no error";
}

/// The message of the error that building a module from this config ends in. "a random number was drawn" if one was.
template <class Module>
std::string config_error_of(const heed::AttentionConfig& config) {
  heed::Generator rng(1);
  const std::string message = error_of([&] { Module(config, rng); });
  if (message != "no error" && !same_state(rng, heed::Generator(1))) return "a random number was drawn";
  return message;
}

/// Whether a message holds all of these.
template <class... Parts>
bool says(const std::string& message, const Parts&... parts) {
  return ((message.find(parts) != std::string::npos) && ...);
}

}  // namespace module_tests
