#pragma once

#include <heed/attention/composition.hpp>
#include <heed/attention/problem.hpp>
#include <heed/attention/reference.hpp>
#include <heed/attention/rule_functions.hpp>
#include <heed/core/parallel.hpp>
#include <heed/core/workspace.hpp>
#include <heed/kernels/head_task.hpp>
#include <heed/kernels/kernels.hpp>

#include <algorithm>

namespace heed::detail::inline HEED_FLAGS {

/// How many queries one task computes: enough that packing the keys costs little (1 % at 512), and few enough that
/// several threads share one head.
inline constexpr Index queries_per_task = 512;
/// How much a task of small heads computes, in pairs times features: about 10 µs, below which no thread is worth its
/// call.
inline constexpr Index work_per_task = 256 * 1024;

/// Up to so many queries count as few: see kernels/region/few_queries.inl.
inline constexpr Index most_few_queries = 8;

/// Up to so many bytes of keys and values a head is fetched while the one before it is computed: with several threads
/// in vain if another thread takes it.
inline constexpr Index fetched_bytes = 512 * 1024;

/// What the kernels need of a call's modifiers, whatever these are, so that what follows is compiled once.
template <class T>
struct CallRules {
  const void* composition;
  kernels::HeadRules<T> (*head)(const void* composition, Index b, Index h);
  void (*run)(const void* composition, Index count, Task task);
  bool changes_weights;
  Workspace& workspace;  // the caller's, whoever runs a task
  const AttentionSizes& sizes;
};

/// One attention on the kernels.
template <class T>
class FusedAttention {
 public:
  FusedAttention(const TensorView<T, 4>& out, const TensorView<const T, 4>& q, const TensorView<const T, 4>& k,
                 const TensorView<const T, 4>& v, const CallRules<T>& rules)
      : out_(out),
        q_(q),
        k_(k),
        v_(v),
        rules_(rules),
        sizes_(rules.sizes),
        e_(v.shape()[3]),
        kernel_(kernels::kernel_table<T>()) {}

  void compute() const {
    if (out_.size() == 0) return;
    if (kernels::is_small(sizes_.t, sizes_.s, sizes_.d, e_)) {
      compute_small();
    } else if (sizes_.t <= most_few_queries && !rules_.changes_weights) {
      compute_few();
    } else {
      compute_rows();
    }
  }

 private:
  template <class U>
  static kernels::Strided<U> matrix(const TensorView<U, 4>& x, Index b, Index h) {
    return {x.data() + b * x.strides()[0] + h * x.strides()[1], x.strides()[2], x.strides()[3]};
  }
  Index group() const { return sizes_.h / sizes_.g; }
  Index heads() const { return sizes_.b * sizes_.h; }

  template <class F>
  void for_each_part(Index count, const F& f) const {
    for_each_part(count, Task(f));
  }
  void for_each_part(Index count, Task task) const {
    run_parts(
        count, [&](Index parts, Task part) { rules_.run(rules_.composition, parts, part); }, task);
  }

  /// Some queries of one of all heads.
  kernels::HeadTask<T> task(Index head, Index first, Index end) const {
    const Index b = head / sizes_.h, h = head % sizes_.h, g = h / group();
    return {
        matrix(q_, b, h), matrix(k_, b, g), matrix(v_, b, g), matrix(out_, b, h), first, end, sizes_.s, sizes_.d, e_};
  }
  static kernels::Span memory(const kernels::Strided<const T>& x, Index rows, Index columns) {
    if (x.row != columns || x.column != 1) return {};
    return {reinterpret_cast<const char*>(x.data), rows * columns * static_cast<Index>(sizeof(T))};
  }
  static kernels::Span rows_of(const kernels::Strided<const T>& x, const kernels::HeadTask<T>& task, Index columns) {
    return memory({x.data + task.first_query * x.row, x.row, x.column}, task.end_query - task.first_query, columns);
  }
  /// Those of compute_rows, `chunks` of each head: the last queries first, as under a causal mask they see the most
  /// keys, and what is left for one thread in the end should be little.
  kernels::HeadTask<T> rows_task(Index part, Index chunks) const {
    const Index first = (chunks - 1 - part % chunks) * queries_per_task;
    return task(part / chunks, first, (std::min)(first + queries_per_task, sizes_.t));
  }
  /// The same, with what comes after it: its output, and most often the next head. Where there are more keys, there is
  /// no time to win, and nothing may push them out of the cache.
  kernels::HeadTask<T> task_and_next(Index part, Index chunks) const {
    kernels::HeadTask<T> now = rows_task(part, chunks);
    if (sizes_.s * (sizes_.d + e_) * static_cast<Index>(sizeof(T)) > fetched_bytes) return now;
    now.soon[0] = rows_of({now.out.data, now.out.row, now.out.column}, now, e_);
    const Index next_head = part / chunks + 1;
    if ((part + 1) % chunks != 0 || next_head == heads()) return now;
    const kernels::HeadTask<T> next = rows_task(part + 1, chunks);
    now.soon[1] = rows_of(next.q, next, next.d);
    if (next_head % group() != 0) return now;  // it has the same keys
    now.soon[2] = memory(next.k, next.s, next.d);
    now.soon[3] = memory(next.v, next.s, next.e);
    return now;
  }
  kernels::HeadRules<T> rules(Index head) const {
    return rules_.head(rules_.composition, head / sizes_.h, head % sizes_.h);
  }

  /// One task for so many heads that it is worth a thread; without threads and memory if one is enough.
  void compute_small() const {
    const Index work = sizes_.t * (sizes_.s + 1) * (sizes_.d + e_);
    const Index heads_per_task = work_per_task / work + 1;
    for_each_part((heads() + heads_per_task - 1) / heads_per_task, [&](Index part) {
      const Index end_head = (std::min)((part + 1) * heads_per_task, heads());
      for (Index head = part * heads_per_task; head < end_head; ++head)
        kernel_.attend_small(task(head, 0, sizes_.t), rules(head));
    });
  }

  /// One task for some queries of each head.
  void compute_rows() const {
    const Index chunks = (sizes_.t + queries_per_task - 1) / queries_per_task;
    for_each_part(heads() * chunks, [&](Index part) {
      const kernels::HeadTask<T> task = task_and_next(part, chunks);
      const Index rows = task.end_query - task.first_query;
      auto room = rules_.workspace.template room<T>(kernel_.scratch_size(rows, sizes_.d, e_));
      kernel_.attend_rows(task, rules(part / chunks), room.data());
    });
  }

  /// One task for each chunk of keys of each key head, then the chunks of a head are put together.
  void compute_few() const {
    const Index rows = group() * sizes_.t;
    const Index chunks = (sizes_.s + kernels::few_queries_chunk - 1) / kernels::few_queries_chunk;
    const Index size = kernel_.few_partial_size(rows, e_);
    auto partials = rules_.workspace.template room<T>(sizes_.b * sizes_.g * chunks * size);
    T* const partial = partials.data();
    for_each_part(sizes_.b * sizes_.g * chunks, [&](Index part) {
      const kernels::FewQueriesTask<T> task = key_head_task(part / chunks);
      auto room = rules_.workspace.template room<T>(kernel_.few_scratch_size(rows, sizes_.d, e_));
      kernel_.few_attend_chunk(task, part % chunks * kernels::few_queries_chunk, partial + part * size, room.data());
      if (chunks == 1) kernel_.few_finish(task, partial + part * size);
    });
    if (chunks == 1) return;
    for_each_part(sizes_.b * sizes_.g,
                  [&](Index index) { kernel_.few_finish(key_head_task(index), partial + index * chunks * size); });
  }

  /// All queries of the query heads that read one of all key heads.
  kernels::FewQueriesTask<T> key_head_task(Index index) const {
    const Index b = index / sizes_.g, g = index % sizes_.g, first_head = g * group();
    return {.q = matrix(q_, b, first_head),
            .q_head = q_.strides()[1],
            .k = matrix(k_, b, g),
            .v = matrix(v_, b, g),
            .out = matrix(out_, b, first_head),
            .out_head = out_.strides()[1],
            .heads = group(),
            .t = sizes_.t,
            .s = sizes_.s,
            .d = sizes_.d,
            .e = e_,
            .b = b,
            .first_head = first_head,
            .composition = rules_.composition,
            .rules_of = rules_.head};
  }

  const TensorView<T, 4>& out_;
  const TensorView<const T, 4>&q_, &k_, &v_;
  const CallRules<T>& rules_;
  const AttentionSizes& sizes_;
  Index e_;
  kernels::KernelTable<T> kernel_;
};

/// Attention by the kernels. What only looks at scores or weights, and what draws in an order, is computed by the
/// reference.
struct FusedKernel {
  template <class T, class Composition>
  void attention(const TensorView<T, 4>& out, const TensorView<const T, 4>& q, const TensorView<const T, 4>& k,
                 const TensorView<const T, 4>& v, const Composition& composition) const {
    if constexpr (Composition::may_draw_from_sequence)
      if (composition.draws_from_sequence()) return plain_attention(out, q, k, v, composition);
    if constexpr (Composition::writes_pairs) for_each_weight_row(q, k, composition, [](const auto&...) {});
    const auto run = [](const void* call_composition, Index count, Task task) {
      static_cast<const Composition*>(call_composition)->run(count, task);
    };
    const CallRules<T> rules{&composition,
                             RuleFunctions<T, Composition>::rules,
                             run,
                             Composition::changes_weights,
                             composition.workspace(),
                             composition.sizes()};
    FusedAttention<T>(out, q, k, v, rules).compute();
  }

  template <class... Arguments>
  void weights(const Arguments&... arguments) const {
    plain_weights(arguments...);
  }
};

}  // namespace heed::detail
