// Attention of some queries of one head, fused: scores, softmax and values block by block. Read once for each
// instruction set.

/// Whether values may be multiplied by weights of 0 without a trace: a NaN or an infinity may not.
template <class T>
bool all_finite(const T* x, Index stride, Index rows, Index columns) {
  const V<T> test = finite_test<T>();
  V<T> sum[4] = {};  // a chain of its own for each of four rows
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; c += width<T>) sum[r % 4] += load(x + r * stride + c) * test;
  const T total = sum_of<T>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  return total == total;
}

/// How often the keys are gone through: once, or twice where weights are changed, which must be normalised before.
enum class Pass { only, sums, values };

/// The queries of one task, which must be at least one.
template <class T>
class Forward {
 public:
  Forward(const HeadTask<T>& task, const HeadRules<T>& rules, T* memory)
      : task_(task),
        rules_(rules),
        rows_(task.end_query - task.first_query),
        d_(task.d),
        blocks_(task.d, task.e),
        e_(blocks_.value_width),
        scratch_(memory, rows_, task.d, blocks_) {}

  void run() {
    begin();
    if (rules_.change != nullptr) {
      attend_blocks(Pass::sums);
      attend_blocks(Pass::values);
    } else {
      attend_blocks(Pass::only);
    }
    finish();
  }

 private:
  /// The queries that are computed together: at most tile_rows. Those of their tile that do not exist are computed in
  /// vain.
  struct Strip {
    Index first, rows;  // of the task's queries
  };
  /// Keys and values of one block, packed.
  struct Block {
    Index first, keys;
    const T* values;
    Index value_stride;
    bool values_finite;
  };

  Index query(Index row) const { return task_.first_query + row; }

  void begin() {
    for (Index i = 0; i < tile_rows * d_; ++i) scratch_.q[i] = 0;  // of queries that do not exist too
    if (rules_.keys == nullptr) {
      seen_ = {0, rules_.length};
    } else {
      for (Index r = 0; r < rows_; ++r) {
        scratch_.seen[r] = rules_.keys(rules_, query(r));
        seen_ = joined(seen_, scratch_.seen[r]);
      }
    }
  }

  void attend_blocks(Pass pass) {
    const Index first = seen_.first / blocks_.keys * blocks_.keys;
    for (Index j = first; j < seen_.end; j += blocks_.keys) {
      const Block block = packed_block(pass, j, smaller(blocks_.keys, seen_.end - j));
      Strip strip{0, 0};
      for (; strip.first < rows_; strip.first += strip.rows) {
        strip.rows = strip_rows(rows_ - strip.first);
        if (j == first && pass != Pass::values) start(strip);
        attend_strip(pass, strip, block);
      }
    }
  }

  /// Here and not before all strips: what is written is still in the nearest cache when it is used.
  void start(const Strip& strip) {
    V<T> first_sum{};
    first_sum[0] = rules_.first_sum;
    const T first_largest = rules_.first_largest;
    for (Index m = 0; m < row_lanes<T>; ++m) {
      scratch_.largest[strip.first + m] = first_largest;
      scratch_.sums[strip.first + m] = first_sum;
    }
    T* const out = scratch_.out + strip.first * e_;
    for (Index i = 0; i < tile_rows * e_; i += width<T>) store(out + i, V<T>{});
  }

  /// The last strip is not left with a row or two, which would cost as much as four.
  static Index strip_rows(Index left) {
    constexpr Index half = tile_rows > 8 ? 8 : 4;
    return left > tile_rows && left <= 2 * half ? half : smaller(left, tile_rows);
  }

  Block packed_block(Pass pass, Index first, Index n) {
    pack_keys<T>(task_.k.data + first * task_.k.row, task_.k.row, task_.k.column, n, d_, scratch_.panels);
    Block block{first, n, task_.v.data + first * task_.v.row, task_.v.row, true};
    if (pass == Pass::sums) return block;
    if (task_.v.column != 1 || task_.e != e_) {
      for (Index i = 0; i < n * e_; i += width<T>) store(scratch_.values + i, V<T>{});
      pack_rows<T>(block.values, task_.v.row, task_.v.column, n, task_.e, T(1), scratch_.values, e_);
      block.values = scratch_.values;
      block.value_stride = e_;
    }
    block.values_finite = all_finite<T>(block.values, block.value_stride, n, e_);
    return block;
  }

  void attend_strip(Pass pass, const Strip& strip, const Block& block) {
    Array<KeyRange, tile_rows> seen;  // by each row, keys of the block
    KeyRange all{0, 0};               // by any row
    for (Index m = 0; m < strip.rows; ++m) {
      seen[m] = rules_.keys == nullptr ? KeyRange{0, block.keys}
                                       : part_of(scratch_.seen[strip.first + m], block.first, block.keys);
      all = joined(all, seen[m]);
    }
    if (all.first >= all.end) return;
    pack_rows<T>(task_.q.data + query(strip.first) * task_.q.row, task_.q.row, task_.q.column, strip.rows, d_,
                 rules_.factor, scratch_.q, d_);
    const Index first_panel = all.first / panel_width<T> * panel_width<T>;
    for (KeyRange run{first_panel, first_panel}; next_run(strip, block, all.end, run);)
      attend_run(pass, strip, block, run, seen);
  }

  /// Moves on to the next keys in a row which the strip may see, in whole panels; false if there are none before `end`.
  HEED_INLINE bool next_run(const Strip& strip, const Block& block, Index end, KeyRange& run) const {
    if (rules_.hides != nullptr) {
      const auto hides = [&](Index j) __attribute__((always_inline)) {
        return rules_.hides(rules_, query(strip.first), query(strip.first + strip.rows), block.first + j,
                            block.first + smaller(j + panel_width<T>, end));
      };
      run.first = run.end;
      while (run.first < end && hides(run.first)) run.first += panel_width<T>;
      run.end = run.first;
      while (run.end < end && !hides(run.end)) run.end += panel_width<T>;
      run.end = smaller(run.end, end);
    } else {
      run = {run.end, end};
    }
    return run.first < run.end;
  }

  /// Scores → final scores → weights, and their values added to the output.
  HEED_INLINE void attend_run(Pass pass, const Strip& strip, const Block& block, KeyRange run, const KeyRange* seen) {
    const bool marks = rules_.drop != nullptr || pass == Pass::values;
    const Index n = run.end - run.first, computed = rounded_up<T>(n);
    const Index stride = blocks_.score_stride;
    T* const scores = scratch_.scores;
    T* const largest = scratch_.largest + strip.first;
    V<T>* const sums = scratch_.sums + strip.first;
    score_rows<T>(strip.rows, scratch_.q, scratch_.panels + run.first * d_, n, d_, scores, stride, soon_);
    for (Index m = 0; m < strip.rows; ++m)
      finish_scores(rules_, scores + m * stride, computed, query(strip.first + m), block.first + run.first,
                    part_of(seen[m], run.first, n));
    Array<T, row_lanes<T>> decay;
    if (pass == Pass::values) {
      normalise_rows<T>(scores, stride, strip.rows, computed, largest, sums);
      for (Index m = 0; m < row_lanes<T>; ++m) decay[m] = 1;
    } else if (marks || !block.values_finite) {
      soften_rows<T, true>(scores, stride, strip.rows, computed, largest, sums, decay);
    } else {
      soften_rows<T, false>(scores, stride, strip.rows, computed, largest, sums, decay);
    }
    if (pass == Pass::sums) return;
    for (Index m = 0; m < strip.rows && marks; ++m) {
      if (pass == Pass::values)
        rules_.change(rules_, scores + m * stride, query(strip.first + m), block.first + run.first, n);
      if (rules_.drop != nullptr)
        rules_.drop(rules_, scores + m * stride, query(strip.first + m), block.first + run.first, n);
    }
    const T* const values = block.values + run.first * block.value_stride;
    T* const out = scratch_.out + strip.first * e_;
    value_rows<T>(strip.rows, scores, stride, values, block.value_stride, n, e_, block.values_finite, out, decay);
  }

  void finish() {
    if (seen_.first >= seen_.end)
      for (Index r = 0; r < rows_; r += tile_rows) start({r, tile_rows});
    for (Index r = 0; r < rows_; ++r) {
      const V<T> sum = all<T>(sum_of<T>(scratch_.sums[r]));
      T* const row = scratch_.out + r * e_;
      if (rules_.change == nullptr) {
        const V<T> divisor = divisor_of<T>(sum), inverse = T(1) / divisor;
        for (Index c = 0; c < e_; c += width<T>) store(row + c, quotient<T>(load(row + c), divisor, inverse));
      }
      T* const to = task_.out.data + query(r) * task_.out.row;
      Index c = 0;
      if (task_.out.column == 1)
        for (; c + width<T> <= task_.e; c += width<T>) store(to + c, load(row + c));
      for (; c < task_.e; ++c) to[c * task_.out.column] = row[c];
      if (rules_.write_logsumexp != nullptr) rules_.write_logsumexp(rules_, query(r), scratch_.largest[r], sum[0]);
    }
  }

  const HeadTask<T>& task_;
  const HeadRules<T>& rules_;
  Index rows_, d_;
  Blocks<T> blocks_;
  Index e_;
  Scratch<T> scratch_;
  KeyRange seen_{0, 0};
  Fetches soon_{task_.soon};
};
