#pragma once

#include <heed/core/aligned_buffer.hpp>
#include <heed/core/shape.hpp>

#include <cstddef>
#include <forward_list>
#include <iterator>
#include <mutex>
#include <utility>

namespace heed {

/// Memory that is kept from call to call, in blocks that grow to what was asked for. Several threads may take from one.
class Workspace {
  // Blocks move from list to list without an allocation, so that giving one back cannot fail.
  using Blocks = std::forward_list<detail::AlignedBuffer<std::byte>>;

 public:
  [[gnu::always_inline]] Workspace() = default;

  /// A block on loan: memory for some T, aligned to a cache line, whatever was in it. Goes back when it is destroyed,
  /// which must be before the workspace is.
  template <class T>
  class Loan {
   public:
    [[gnu::always_inline]] Loan(Workspace& owner, Blocks block) : owner_(&owner), block_(std::move(block)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    [[gnu::always_inline]] ~Loan() {
      if (!block_.empty()) owner_->take_back(block_);
    }
    [[gnu::always_inline]] T* data() { return reinterpret_cast<T*>(block_.front().data()); }

   private:
    Workspace* owner_;
    Blocks block_;  // one, or none after a move
  };

  /// Room for `count` elements: the smallest free block that has it, else the largest free one makes way for a new one.
  template <class T>
  [[gnu::always_inline]] Loan<T> room(Index count) {
    const Index bytes = count * static_cast<Index>(sizeof(T));
    Blocks block = take(bytes);
    if (block.empty()) block.emplace_front();
    if (block.front().size() < bytes) {
      using Buffer = detail::AlignedBuffer<std::byte>;
      block.front() = Buffer();  // before the larger one is taken; for = {} Clang 14 and 16 leak it, in a template
      block.front() = Buffer(bytes);
    }
    return {*this, std::move(block)};
  }

  /// How many bytes lie free.
  [[gnu::always_inline]] Index size() const {
    const std::lock_guard lock(mutex_);
    Index bytes = 0;
    for (const auto& memory : free_) bytes += memory.size();
    return bytes;
  }

  /// Gives back to the system what lies free.
  [[gnu::always_inline]] void release() {
    Blocks released;
    const std::lock_guard lock(mutex_);
    released.swap(free_);
  }

 private:
  [[gnu::always_inline]] Blocks take(Index bytes) {
    Blocks taken;
    const std::lock_guard lock(mutex_);
    auto before = free_.before_begin();
    for (auto block = free_.begin(); block != free_.end(); before = block++) {
      if (block->size() < bytes && std::next(block) != free_.end()) continue;
      taken.splice_after(taken.before_begin(), free_, before);
      break;
    }
    return taken;
  }

  [[gnu::always_inline]] void take_back(Blocks& block) noexcept {
    const std::lock_guard lock(mutex_);
    auto before = free_.before_begin();
    for (auto other = free_.begin(); other != free_.end() && other->size() <= block.front().size();) before = other++;
    free_.splice_after(before, block);
  }

  mutable std::mutex mutex_;
  Blocks free_;  // sorted by size
};

namespace detail {

/// The workspace of the calling thread.
[[gnu::always_inline]] inline Workspace& thread_workspace() {
  thread_local Workspace workspace;
  return workspace;
}

}  // namespace detail
}  // namespace heed

namespace heed::inline HEED_FLAGS {

/// Gives back what heed keeps for the calls of the calling thread, whoever computed them.
inline void release_workspace() { detail::thread_workspace().release(); }

}  // namespace heed
