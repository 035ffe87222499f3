#pragma once

#include <heed/core/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

namespace heed::detail::inline HEED_FLAGS {

/// One unknown of Σ step·x = distance, with 0 ≤ x ≤ last and step > 0.
struct Term {
  std::int64_t step;
  std::int64_t last;
};

/// Whether Σ step·x = target has a solution. Terms are sorted by step, largest first. Layouts nest (a row is longer
/// than its elements), so that one or two values of each unknown survive the bounds and the search is short. Strides
/// that do not nest could take for ever: after `steps_left` trials the answer is yes, which refuses rather than
/// corrupts.
inline bool reaches(const Term* term, const Term* end, std::int64_t target, int& steps_left) {
  if (target < 0) return false;
  if (term == end) return target == 0;
  std::int64_t rest = 0;
  std::int64_t divisor = 0;
  for (const Term* t = term + 1; t != end; ++t) {
    rest += t->step * t->last;
    divisor = std::gcd(divisor, t->step);
  }
  if (target > rest + term->step * term->last || target % std::gcd(divisor, term->step) != 0) return false;
  const std::int64_t least = target > rest ? (target - rest + term->step - 1) / term->step : 0;
  const std::int64_t most = (std::min)(term->last, target / term->step);
  for (std::int64_t x = least; x <= most; ++x)
    if (--steps_left < 0 || reaches(term + 1, end, target - x * term->step, steps_left)) return true;
  return false;
}

/// Collects the terms of "byte of one view − byte of another = distance" and solves for it.
class OverlapEquation {
 public:
  /// Adds stride·factor·x for 0 ≤ x < size. Terms of one step add up; a negative one is shifted into a positive one. An
  /// axis of size 1 may have any stride.
  void add(std::int64_t stride, std::int64_t size, std::int64_t factor = 1) {
    if (stride == 0 || size <= 1) return;
    std::int64_t step = stride * factor;
    if (step < 0) {
      step = -step;
      shift_ += step * (size - 1);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (terms_[i].step == step) {
        terms_[i].last += size - 1;
        return;
      }
    }
    terms_[count_++] = {step, size - 1};
  }

  bool has_solution(std::int64_t distance) {
    std::sort(terms_.begin(), terms_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Term& a, const Term& b) { return a.step > b.step; });
    int steps_left = most_steps;
    return reaches(terms_.data(), terms_.data() + count_, distance + shift_, steps_left);
  }

 private:
  static constexpr int most_steps = 100'000;   // about 10 ms; nested layouts need tens
  static constexpr std::size_t capacity = 20;  // two views of rank 8, and the bytes of an element of each

  std::array<Term, capacity> terms_{};
  std::size_t count_ = 0;
  std::int64_t shift_ = 0;
};

/// The first byte of a view and the one after its last.
struct AddressRange {
  std::int64_t first, end;

  template <class T, int R>
  explicit AddressRange(const TensorView<T, R>& v) {
    first = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(v.data()));
    end = first + static_cast<std::int64_t>(sizeof(T));
    for (int axis = 0; axis < R; ++axis) {
      const std::int64_t reach =
          v.strides()[static_cast<std::size_t>(axis)] * (v.shape()[axis] - 1) * static_cast<std::int64_t>(sizeof(T));
      (reach < 0 ? first : end) += reach;
    }
  }
};

/// Whether each axis steps over all that the axes behind it reach, as in a contiguous tensor: then no two indices meet.
template <class T, int R>
bool is_nested(const TensorView<T, R>& v) {
  std::int64_t reach = 0;
  for (int axis = R - 1; axis >= 0; --axis) {
    const std::int64_t stride = v.strides()[static_cast<std::size_t>(axis)];
    if (v.shape()[axis] > 1 && stride <= reach) return false;
    reach += stride * (v.shape()[axis] - 1);
  }
  return true;
}

/// Whether two views share memory, exactly: the columns of one matrix do not, though their ranges of addresses overlap.
template <class A, int RA, class B, int RB>
bool shares_elements(const TensorView<A, RA>& a, const TensorView<B, RB>& b) {
  static_assert(RA <= 8 && RB <= 8);
  if (a.size() == 0 || b.size() == 0) return false;
  const AddressRange range_a(a), range_b(b);
  if (range_a.end <= range_b.first || range_b.end <= range_a.first) return false;
  const auto address = [](const auto* p) { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(p)); };
  std::int64_t distance = address(b.data()) - address(a.data());
  // Elements of one size that lie on one grid are counted whole, which rules out most distances at once; else in bytes.
  const bool on_one_grid = sizeof(A) == sizeof(B) && distance % static_cast<std::int64_t>(sizeof(A)) == 0;
  const auto size_of_a = on_one_grid ? 1 : static_cast<std::int64_t>(sizeof(A));
  const auto size_of_b = on_one_grid ? 1 : static_cast<std::int64_t>(sizeof(B));
  if (on_one_grid) distance /= static_cast<std::int64_t>(sizeof(A));
  OverlapEquation equation;
  for (int axis = 0; axis < RA; ++axis)
    equation.add(a.strides()[static_cast<std::size_t>(axis)], a.shape()[axis], size_of_a);
  for (int axis = 0; axis < RB; ++axis)
    equation.add(b.strides()[static_cast<std::size_t>(axis)], b.shape()[axis], -size_of_b);
  equation.add(1, size_of_a);
  equation.add(-1, size_of_b);
  return equation.has_solution(distance);
}

/// Whether two indices of one view name the same memory, as in a broadcast view.
template <class T, int R>
bool shares_own_elements(const TensorView<T, R>& v) {
  if (v.size() <= 1 || is_nested(v)) return false;
  // The first axis along which the two indices differ is `first`; there the difference is at least 1.
  for (int first = 0; first < R; ++first) {
    if (v.shape()[first] <= 1) continue;
    OverlapEquation equation;
    const Index step = v.strides()[static_cast<std::size_t>(first)];
    equation.add(step, v.shape()[first] - 1);
    for (int axis = first + 1; axis < R; ++axis) {
      const Index stride = v.strides()[static_cast<std::size_t>(axis)];
      equation.add(stride, v.shape()[axis]);
      equation.add(-stride, v.shape()[axis]);
    }
    if (equation.has_solution(-step)) return true;
  }
  return false;
}

/// Refuses an output that several indices share (a broadcast view).
template <class T, int R>
void check_output(const char* function, const char* name, const TensorView<T, R>& output) {
  if (shares_own_elements(output))
    fail_value(
        {function, ": several indices of the output ", name, " ", to_string(output.shape()), " share one element"});
}

/// Refuses an output that shares an element with an input.
template <class T, int R, class U, int S>
void check_apart(const char* function, const char* name, const TensorView<T, R>& output, const char* input_name,
                 const TensorView<U, S>& input) {
  if (shares_elements(output, input))
    fail_value({function, ": the output ", name, " ", to_string(output.shape()), " shares elements with the input ",
                input_name, " ", to_string(input.shape())});
}

/// Both of the above.
template <class T, int R, class U, int S>
void check_output(const char* function, const char* name, const TensorView<T, R>& output, const char* input_name,
                  const TensorView<U, S>& input) {
  check_output(function, name, output);
  check_apart(function, name, output, input_name, input);
}

}  // namespace heed::detail
