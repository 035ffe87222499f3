#pragma once

#include <heed/core/shape.hpp>

#include <atomic>
#include <exception>

namespace heed::detail::inline HEED_FLAGS {

template <class F>
void call_part(const void* f, Index n) {
  (*static_cast<const F*>(f))(n);
}

}  // namespace heed::detail

namespace heed {

/// The body of a parallel loop: task(n) does part n, on any thread. Cheap to copy. An executor sees no exception of it.
class Task {
 public:
  template <class F>
  [[gnu::always_inline]] explicit Task(const F& f) : context_(&f), run_(detail::call_part<F>) {}
  [[gnu::always_inline]] void operator()(Index n) const { run_(context_, n); }

 private:
  const void* context_;
  void (*run_)(const void* context, Index n);
};

/// Calls task(n) for every n in [0, count), in any order and on any threads, and returns when all are done.
using Executor = void (*)(Index count, Task task);

namespace detail {
inline std::atomic<Executor> executor{nullptr};
}

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// The executor that is set, else OpenMP where the compiler has it on, else the calling thread.
inline void run_tasks(Index count, Task task) {
  if (const Executor run = executor.load()) return run(count, task);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
  for (Index n = 0; n < count; ++n) task(n);
}

/// task(n) for every n in [0, count), by run(count, task). The first exception of a part is thrown on when the others
/// are done, some of which are skipped then: a thread of OpenMP or of a pool would end the program.
template <class Run>
void run_parts(Index count, const Run& run, Task task) {
  if (count == 0) return;
  if (count == 1) return task(Index{0});
#if HEED_HAS_EXCEPTIONS
  std::atomic<bool> failed{false};
  std::exception_ptr first;
  const auto part = [&](Index n) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      task(n);
    } catch (...) {
      if (!failed.exchange(true)) first = std::current_exception();
    }
  };
  run(count, Task(part));
  if (first) std::rethrow_exception(first);
#else
  run(count, task);
#endif
}

/// f(n) for every n in [0, count), perhaps in parallel.
template <class F>
void parallel_for(Index count, const F& f) {
  run_parts(count, run_tasks, Task(f));
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// Who runs heed's parallel loops: your thread pool, or with nullptr OpenMP where the compiler has it on, else the
/// calling thread. One per program; returns the one before. heed::on chooses for one call. Results do not depend on it.
/// A function pointer: it reaches a pool of yours through a variable of the program.
inline Executor set_executor(Executor executor) { return detail::executor.exchange(executor); }

}  // namespace heed
