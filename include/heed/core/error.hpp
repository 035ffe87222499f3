#pragma once

#include <heed/core/config.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heed {

/// Sizes that do not fit together. The message names function, argument and shapes, as in
/// "heed::scaled_dot_product_attention: k is ℝ^{2×6×4}, but its last size must be 3, as in q ℝ^{2×6×3}".
/// Thrown before anything is written.
class ShapeError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Receives the message of an error in a program built without exceptions. It must not return.
using ErrorHandler = void (*)(const char* message);

namespace detail {
inline std::atomic<ErrorHandler> error_handler{nullptr};
}

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

template <class Error>
[[noreturn]] void fail(const std::string& message) {
#if HEED_HAS_EXCEPTIONS
  throw Error(message);
#else
  if (const ErrorHandler handler = error_handler.load()) handler(message.c_str());
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
#endif
}

/// Never inlined: a message is built on the way out, and GCC 12 sees out-of-bounds copies in inlined string sums
/// (-Warray-bounds at -O2, GCC bug 105651).
[[gnu::noinline, gnu::cold]] inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

/// A number as it stands in a message: 0.1, 1e-09, nan.
[[gnu::noinline, gnu::cold]] inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

[[noreturn]] inline void fail_shape(std::initializer_list<std::string_view> parts) { fail<ShapeError>(joined(parts)); }
[[noreturn]] inline void fail_value(std::initializer_list<std::string_view> parts) {
  fail<std::invalid_argument>(joined(parts));
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// Where errors go in a program built without exceptions (with exceptions they are thrown and this has no effect).
/// Without a handler, or after one that returns, the message goes to stderr and the program aborts. One handler per
/// program; returns the one before.
inline ErrorHandler set_error_handler(ErrorHandler handler) { return detail::error_handler.exchange(handler); }

}  // namespace heed
