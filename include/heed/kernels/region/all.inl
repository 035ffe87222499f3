// All parts of the kernels, in the order in which they need each other.
// clang-format off
#include <heed/kernels/region/simd.inl>
#include <heed/kernels/region/keys.inl>
#include <heed/kernels/region/exponential.inl>
#include <heed/kernels/region/packing.inl>
#include <heed/kernels/region/products.inl>
#include <heed/kernels/region/softmax.inl>
#include <heed/kernels/region/memory.inl>
#include <heed/kernels/region/forward.inl>
#include <heed/kernels/region/small.inl>
#include <heed/kernels/region/features.inl>
#include <heed/kernels/region/few_queries.inl>
// clang-format on
#undef HEED_INLINE

/// What is called from outside.
struct Kernels {
  /// How many T of memory attend_rows needs.
  template <class T>
  static Index scratch_size(Index rows, Index d, Index e) {
    return Scratch<T>(nullptr, rows, d, Blocks<T>(d, e)).size;
  }
  /// Computes a task.
  template <class T>
  static void attend_rows(const HeadTask<T>& task, const HeadRules<T>& rules, T* memory) {
    Forward<T>(task, rules, memory).run();
  }
  /// The same where is_small.
  template <class T>
  static void attend_small(const HeadTask<T>& task, const HeadRules<T>& rules) {
    Small<T>(task, rules).run();
  }
  template <class T>
  using Few = FewQueries<T>;
  /// Functions::edit compiled for this instruction set, into which all that it calls is inlined, the user's functions
  /// too: left to itself GCC 12 calls a long one for each score, which took five times as long with a soft cap.
  template <class Functions, class T>
  [[gnu::flatten]] static void edit(const HeadRules<T>& rules, T* scores, Index i, Index j, Index n) {
    Functions::edit(rules, scores, i, j, n);
  }
  /// Functions::drop likewise.
  template <class Functions, class T>
  [[gnu::flatten]] static void drop(const HeadRules<T>& rules, T* weights, Index i, Index j, Index n) {
    Functions::drop(rules, weights, i, j, n);
  }
};
