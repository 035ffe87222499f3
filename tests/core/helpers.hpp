// What the tests of core/ share: tensors of known numbers, elements as a list, memory with gaps that nobody may read,
// and the messages of errors.
#pragma once

#include <heed/core/error.hpp>
#include <heed/core/tensor.hpp>
#include <heed/core/tensor_view.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define HEED_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEED_TEST_ASAN 1
#endif
#endif
#if defined(HEED_TEST_ASAN)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#endif

namespace core_tests {

using heed::Index;

/// The address of the element at a row-major position, worked out from data(), shape() and strides() alone.
template <class T, int R>
T* address_of(const heed::TensorView<T, R>& v, Index position) {
  Index offset = 0;
  for (int axis = R - 1; axis >= 0; --axis) {
    offset += position % v.shape()[axis] * v.strides()[static_cast<std::size_t>(axis)];
    position /= v.shape()[axis];
  }
  return v.data() + offset;
}

/// All elements in row-major order.
template <class T, int R>
std::vector<std::remove_const_t<T>> elements(const heed::TensorView<T, R>& v) {
  std::vector<std::remove_const_t<T>> list;
  for (Index position = 0; position < v.size(); ++position) list.push_back(*address_of(v, position));
  return list;
}
template <class T, int R>
std::vector<T> elements(const heed::Tensor<T, R>& x) {
  return std::vector<T>(x.data(), x.data() + x.size());
}

/// first, first + 1, … : `count` numbers.
template <class T>
std::vector<T> counting(Index count, int first = 1) {
  std::vector<T> list(static_cast<std::size_t>(count));
  for (T& value : list) value = static_cast<T>(first++);
  return list;
}

/// A tensor of the numbers 1, 2, 3 … row by row.
template <class T, class... Sizes>
heed::Tensor<T, static_cast<int>(sizeof...(Sizes))> numbered(Sizes... sizes) {
  heed::Tensor<T, static_cast<int>(sizeof...(Sizes))> x(sizes...);
  const auto numbers = counting<T>(x.size());
  std::copy(numbers.begin(), numbers.end(), x.data());
  return x;
}

/// Memory of NaN (false for bool) where only the elements of the views taken from it may be touched: under ASan
/// everything else is poisoned.
template <class T>
class GappedMemory {
 public:
  explicit GappedMemory(Index count) : count_(static_cast<std::size_t>(count)), values_(std::make_unique<T[]>(count_)) {
    std::fill_n(values_.get(), count_, std::numeric_limits<T>::quiet_NaN());
    ASAN_POISON_MEMORY_REGION(values_.get(), count_ * sizeof(T));
  }
  GappedMemory(const GappedMemory&) = delete;
  GappedMemory& operator=(const GappedMemory&) = delete;
  ~GappedMemory() { open(); }

  /// A view that starts at element `start` and holds 1, 2, 3 … row by row.
  template <int R>
  heed::TensorView<T, R> numbered(Index start, const heed::Shape<R>& shape, const heed::Strides<R>& strides) {
    const heed::TensorView<T, R> v(values_.get() + start, shape, strides);
    for (Index position = 0; position < v.size(); ++position) {
      T* const address = address_of(v, position);
      ASAN_UNPOISON_MEMORY_REGION(address, sizeof(T));
      *address = static_cast<T>(position + 1);
      ++placed_;
    }
    return v;
  }

  /// Whether everything but the `placed` elements of the views still is NaN. Ends the poisoning.
  bool gaps_are_untouched() {
    static_assert(std::numeric_limits<T>::has_quiet_NaN, "a gap of such elements cannot be told");
    open();
    const auto is_nan = [](T value) { return value != value; };
    return std::count_if(values_.get(), values_.get() + count_, is_nan) ==
           static_cast<std::ptrdiff_t>(count_) - placed_;
  }

 private:
  void open() { ASAN_UNPOISON_MEMORY_REGION(values_.get(), count_ * sizeof(T)); }

  std::size_t count_;
  std::unique_ptr<T[]> values_;  // a vector of bool has no elements that one can point to
  std::ptrdiff_t placed_ = 0;
};

/// The message of the ShapeError that a call throws.
template <class Call>
std::string shape_error(const Call& call) {
  try {
    call();
  } catch (const heed::ShapeError& error) {
    return error.what();
  }
  return "no ShapeError";
}

/// The message of the std::invalid_argument, no ShapeError, that a call throws.
template <class Call>
std::string value_error(const Call& call) {
  try {
    call();
  } catch (const heed::ShapeError&) {
    return "a ShapeError";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no std::invalid_argument";
}

}  // namespace core_tests
