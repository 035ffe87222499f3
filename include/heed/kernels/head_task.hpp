#pragma once

#include <heed/core/shape.hpp>

namespace heed::kernels::inline HEED_FLAGS {

/// A matrix in memory: element (r, c) lies at data + r·row + c·column.
template <class T>
struct Strided {
  T* data;
  Index row, column;
};

/// Memory in a row.
struct Span {
  const char* data = nullptr;
  Index bytes = 0;
};
inline constexpr int spans_used_soon = 4;

/// Some queries of one head: what a kernel computes at a time.
template <class T>
struct HeadTask {
  Strided<const T> q;  // ℝ^{t×d}, the head's first query first
  Strided<const T> k;  // ℝ^{s×d}
  Strided<const T> v;  // ℝ^{s×e}
  Strided<T> out;      // ℝ^{t×e}
  Index first_query, end_query;
  Index s, d, e;
  Span soon[spans_used_soon] = {};  // fetched into the cache meanwhile
};

/// Keys first ≤ j < end.
struct KeyRange {
  Index first, end;
};

/// What a kernel asks of the modifiers about one head. Functions by pointer, called for many pairs at a time, so that
/// the kernels are compiled once and not for every combination of modifiers; what is not needed is nullptr. They take
/// these rules first.
template <class T>
struct HeadRules {
  const void* composition;
  Index b, h;
  Index length, offset;        // keys of the batch; what is added to a query to give its position
  T factor;                    // what q is multiplied by
  T first_largest, first_sum;  // what is known of a row before its first key: its sink

  /// The keys that query i may see, where they are not those before `length`.
  KeyRange (*keys)(const HeadRules&, Index i) = nullptr;
  /// Whether no pair of the queries [i, i_end) and keys [j, j_end) is seen, as far as can be told at once.
  bool (*hides)(const HeadRules&, Index i, Index i_end, Index j, Index j_end) = nullptr;
  /// Scores of query i and the keys [j, j + n) → final scores, −inf where hidden.
  void (*edit)(const HeadRules&, T* scores, Index i, Index j, Index n) = nullptr;
  /// Normalised weights of query i → what they are changed to. −0 marks what is hidden, and stays.
  void (*change)(const HeadRules&, T* weights, Index i, Index j, Index n) = nullptr;
  /// Weights after dropout, likewise.
  void (*drop)(const HeadRules&, T* weights, Index i, Index j, Index n) = nullptr;
  /// Receives what the softmax found: the largest score of a row and Σ e^(score − largest).
  void (*write_logsumexp)(const HeadRules&, Index i, T largest, T sum) = nullptr;
};

/// A few queries of every query head that reads one key head. Row r is query r % t of the head r / t of these.
template <class T>
struct FewQueriesTask {
  Strided<const T> q;  // ℝ^{t×d}, the first head's
  Index q_head;        // from one head to the next
  Strided<const T> k;  // ℝ^{s×d}
  Strided<const T> v;  // ℝ^{s×e}
  Strided<T> out;      // ℝ^{t×e}, the first head's
  Index out_head;
  Index heads, t, s, d, e;
  Index b, first_head;
  const void* composition;
  HeadRules<T> (*rules_of)(const void* composition, Index b, Index h);

  HeadRules<T> rules(Index head) const { return rules_of(composition, b, first_head + head); }
};

}  // namespace heed::kernels
