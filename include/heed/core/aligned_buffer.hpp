#pragma once

#include <heed/core/shape.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace heed::detail::inline HEED_FLAGS {

/// One cache line, and the widest vector of any instruction set heed uses.
inline constexpr std::size_t buffer_alignment = 64;

inline void* allocate_aligned(Index size, std::size_t element) {
  if (static_cast<std::size_t>(size) > (std::numeric_limits<std::size_t>::max)() / 2 / element)
    fail_shape({"heed::Tensor: ", std::to_string(size), " elements do not fit into memory"});
  return ::operator new (static_cast<std::size_t>(size) * element, std::align_val_t{buffer_alignment});
}

}  // namespace heed::detail

namespace heed::detail {

/// Zeroed memory for `size` elements, copied with its owner. std::vector would do but for bool and the alignment.
template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "heed::Tensor: elements must be trivially copyable");

 public:
  [[gnu::always_inline]] AlignedBuffer() = default;

  [[gnu::always_inline]] explicit AlignedBuffer(Index size) : data_(allocate(size)), size_(size) {
    std::uninitialized_value_construct_n(data_.get(), size_);
  }

  [[gnu::always_inline]] AlignedBuffer(const AlignedBuffer& other) : data_(allocate(other.size_)), size_(other.size_) {
    std::uninitialized_copy_n(other.data(), size_, data_.get());
  }

  [[gnu::always_inline]] AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}

  [[gnu::always_inline]] AlignedBuffer& operator=(AlignedBuffer other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[gnu::always_inline]] ~AlignedBuffer() = default;

  [[gnu::always_inline]] T* data() { return data_.get(); }
  [[gnu::always_inline]] const T* data() const { return data_.get(); }
  [[gnu::always_inline]] Index size() const { return size_; }

 private:
  struct Free {
    [[gnu::always_inline]] void operator()(T* memory) const {
      ::operator delete (memory, std::align_val_t{buffer_alignment});
    }
  };

  [[gnu::always_inline]] static T* allocate(Index size) {
    return size == 0 ? nullptr : static_cast<T*>(allocate_aligned(size, sizeof(T)));
  }

  std::unique_ptr<T[], Free> data_;
  Index size_ = 0;
};

}  // namespace heed::detail
