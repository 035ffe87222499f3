// Threads by OpenMP where the compiler has it on, else one.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

namespace bench {

/// OMP_NUM_THREADS decides, or set_threads.
inline int threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

inline void set_threads([[maybe_unused]] int count) {
#ifdef _OPENMP
  omp_set_num_threads(count);
#endif
}

/// f(thread) for each thread at once.
template <class F>
void on_each_thread(const F& f) {
#ifdef _OPENMP
#pragma omp parallel
  f(omp_get_thread_num());
#else
  f(0);
#endif
}

}  // namespace bench
