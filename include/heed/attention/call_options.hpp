#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/parallel.hpp>
#include <heed/core/shape.hpp>
#include <heed/core/workspace.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace heed::modifiers::inline HEED_FLAGS {

/// Where a call takes its memory.
struct GivenWorkspace : Modifier {
  static constexpr Choice choice = Choice::workspace;

  explicit GivenWorkspace(Workspace& to_use) : given(&to_use) {}

  Workspace& workspace() const { return *given; }
  template <class T>
  GivenWorkspace bind(const detail::AttentionSizes&) const {
    return *this;
  }

  Workspace* given;
};

/// Who runs the parallel loops of a call. F is a reference unless the executor was a temporary, which is const here.
template <class F>
struct GivenExecutor : Modifier {
  static constexpr Choice choice = Choice::executor;
  using Callable = std::conditional_t<std::is_reference_v<F>, std::remove_reference_t<F>, const F>;

  explicit GivenExecutor(F&& users_executor) : executor(std::forward<F>(users_executor)) {}

  struct Bound {
    Callable* executor;
    void run(Index count, Task task) const { (*executor)(count, task); }
  };
  template <class T>
  Bound bind(const detail::AttentionSizes&) const {
    return {std::addressof(executor)};
  }

  F executor;
};

}  // namespace heed::modifiers

// In the examples q is ℝ^{2×4×5×8} (b, h, t, d), k ℝ^{2×2×7×8} (b, g, s, d) and v ℝ^{2×2×7×3} (b, g, s, e).
namespace heed::inline HEED_FLAGS {

/// The call takes the memory it needs between from this workspace instead of the calling thread's, and leaves it there
/// for the next. Several threads may give the same one. It is referred to until the call ends, not after.
///
/// ```cpp
/// heed::Workspace memory;
/// heed::Tensor<float, 4> out(2, 4, 5, 3);  // ℝ^{b×h×t×e}
/// heed::scaled_dot_product_attention_into(out, q, k, v, heed::workspace(memory));
/// memory.release();
/// ```
inline modifiers::GivenWorkspace workspace(Workspace& memory) { return modifiers::GivenWorkspace(memory); }

/// The executor runs the parallel loops of this call, instead of that of set_executor: executor(count, task) calls
/// task(n) for every n in [0, count), in any order and on any threads, and returns when all are done; what it throws
/// itself, before any is begun or when none runs any more, passes. It is called on the calling thread, if there is more
/// than one part. Results do not depend on it.
///
/// ```cpp
/// auto backwards = [](heed::Index count, heed::Task task) {
///   while (count-- > 0) task(count);
/// };
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::on(backwards));
/// ```
template <class F>
auto on(F&& executor) {
  static_assert(std::invocable<typename modifiers::GivenExecutor<F>::Callable&, Index, Task>,
                "heed::on: an executor must be callable (a temporary one when const) as executor(Index count, Task "
                "task)");
  return modifiers::GivenExecutor<F>(std::forward<F>(executor));
}

}  // namespace heed
