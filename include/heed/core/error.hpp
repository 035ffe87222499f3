#pragma once

#include <heed/core/config.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

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

template <class Error>
[[noreturn]] void fail(const std::string& message) {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
  throw Error(message);
#else
  if (const ErrorHandler handler = error_handler.load()) handler(message.c_str());
  std::fputs((message + '\n').c_str(), stderr);
  std::abort();
#endif
}

[[noreturn]] inline void fail_shape(const std::string& message) { fail<ShapeError>(message); }
[[noreturn]] inline void fail_value(const std::string& message) { fail<std::invalid_argument>(message); }

}  // namespace detail

/// Where errors go in a program built without exceptions (with exceptions they are thrown and this has no effect).
/// Without a handler, or after one that returns, the message goes to stderr and the program aborts. One handler per
/// program; returns the one before.
inline ErrorHandler set_error_handler(ErrorHandler handler) { return detail::error_handler.exchange(handler); }

}  // namespace heed
