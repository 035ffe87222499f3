#pragma once

#include <heed/core/tensor_like.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

namespace heed::detail::inline HEED_FLAGS {

/// An axis longer than this shows its first and last `shown_at_each_end` entries only.
inline constexpr Index longest_shown_axis = 12;
inline constexpr Index shown_at_each_end = 3;

/// Calls show(i) for the entries of an axis that are printed, and skip() once where some are left out.
template <class Show, class Skip>
void for_each_shown(Index size, const Show& show, const Skip& skip) {
  const bool elided = size > longest_shown_axis;
  for (Index i = 0; i < size; ++i) {
    if (elided && i == shown_at_each_end) {
      skip();
      i = size - shown_at_each_end;
    }
    show(i);
  }
}

/// A number with four decimals and a point, whatever the locale; integers and truth values as they are.
template <class T>
std::string printed_number(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "nan";
    char text[std::numeric_limits<double>::max_exponent10 + 8];  // sign, 309 digits, point, four decimals
    const auto end =
        std::to_chars(std::begin(text), std::end(text), static_cast<double>(value), std::chars_format::fixed, 4);
    return std::string(std::begin(text), end.ptr);
  } else {
    return std::to_string(value);
  }
}

template <class T, int R>
std::size_t widest_number(const TensorView<T, R>& v) {
  std::size_t width = 0;
  const auto measure = [&](Index i) {
    if constexpr (R == 1) {
      width = (std::max)(width, printed_number(v[i]).size());
    } else {
      width = (std::max)(width, widest_number(v[i]));
    }
  };
  for_each_shown(v.shape()[0], measure, [] {});
  return width;
}

/// Nested brackets, a line for each row, numbers right-aligned.
template <class T, int R>
void print_brackets(std::ostream& out, const TensorView<T, R>& v, std::size_t width, const std::string& indent) {
  out << '[';
  bool first = true;
  const auto separate = [&] {
    if (!std::exchange(first, false)) {
      if (R > 1) out << std::string(static_cast<std::size_t>(R) - 1, '\n');
      out << (R > 1 ? indent : " ");
    }
  };
  const auto show = [&](Index i) {
    separate();
    if constexpr (R == 1) {
      const std::string number = printed_number(v[i]);
      out << std::string(width - number.size(), ' ') << number;
    } else {
      print_brackets(out, v[i], width, indent + ' ');
    }
  };
  for_each_shown(v.shape()[0], show, [&] {
    separate();
    out << "…";
  });
  out << ']';
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// "ℝ^{2×6×3}".
template <int R>
std::ostream& operator<<(std::ostream& out, const Shape<R>& shape) {
  return out << to_string(shape);
}

/// The shape on a line of its own, then the numbers with four decimals in nested brackets. Of an axis longer than 12
/// only the first and last three entries are shown. The stream's own number format is neither used nor changed.
template <class T, int R>
std::ostream& operator<<(std::ostream& out, const TensorView<T, R>& v) {
  out << v.shape() << '\n';
  detail::print_brackets(out, v, detail::widest_number(v), " ");
  return out << '\n';
}

template <class T, int R>
std::ostream& operator<<(std::ostream& out, const Tensor<T, R>& tensor) {
  return out << view(tensor);
}

}  // namespace heed
