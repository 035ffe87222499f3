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

namespace heed::detail {

/// One cache line, and the widest vector of any instruction set heed uses.
inline constexpr std::size_t buffer_alignment = 64;

/// Zeroed memory for `size` elements, copied with its owner. std::vector would do but for bool and the alignment.
template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "heed::Tensor: elements must be trivially copyable");

 public:
  AlignedBuffer() = default;

  explicit AlignedBuffer(Index size) : data_(allocate(size)), size_(size) {
    std::uninitialized_value_construct_n(data_.get(), size_);
  }

  AlignedBuffer(const AlignedBuffer& other) : data_(allocate(other.size_)), size_(other.size_) {
    std::uninitialized_copy_n(other.data(), size_, data_.get());
  }

  AlignedBuffer(AlignedBuffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}

  AlignedBuffer& operator=(AlignedBuffer other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~AlignedBuffer() = default;

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  Index size() const { return size_; }

 private:
  struct Free {
    void operator()(T* memory) const { ::operator delete (memory, std::align_val_t{buffer_alignment}); }
  };

  static T* allocate(Index size) {
    if (size == 0) return nullptr;
    if (static_cast<std::size_t>(size) > (std::numeric_limits<std::size_t>::max)() / 2 / sizeof(T))
      fail_shape({"heed::Tensor: ", std::to_string(size), " elements do not fit into memory"});
    return static_cast<T*>(
        ::operator new (static_cast<std::size_t>(size) * sizeof(T), std::align_val_t{buffer_alignment}));
  }

  std::unique_ptr<T[], Free> data_;
  Index size_ = 0;
};

}  // namespace heed::detail
