// A few queries against many keys (decoding). Keys and values are used where they lie, and read from memory once for
// all rows that share them: a row is a query of one of the heads that read the same key head. Read once for each
// instruction set.

/// So many sums are computed at once: what fits into registers.
inline constexpr int few_sums = HEED_VECTOR_BYTES == 64 ? 16 : 8;
/// Rows are computed by so many at most.
inline constexpr int few_rows = 4;

/// Rows that are computed where there are `rows`: 4 at a time, a single one by itself.
HEED_INLINE Index computed_rows(Index rows) {
  const Index rest = rows % few_rows;
  return rows - rest + (rest > 1 ? few_rows : rest);
}

/// The sums of each of W vectors, in lanes; v is destroyed. Halves are folded, as by sum_of.
template <class T, int n = width<T> / 2>
HEED_INLINE V<T> sums_of(V<T>* v) {
  HEED_UNROLL
  for (int i = 0; i < n; ++i) {
    exchange_blocks<T, n>(v[i], v[i + n], FirstIntegers<width<T>>{});
    v[i] += v[i + n];
  }
  if constexpr (n > 1) {
    return sums_of<T, n / 2>(v);
  } else {
    return v[0];
  }
}

/// Scores of R rows of q (f.padded apart) and a vector's width of keys, of which n are there; the rest get any score.
template <class T, int R>
void few_scores(const T* q, const FeatureRows<T>& keys, Index n, const FeatureVectors<T>& f, Index ahead, T* scores,
                Index stride) {
  constexpr int W = width<T>;
  constexpr int wanted = few_sums / R < 4 ? few_sums / R : 4;
  constexpr int J = wanted < W ? wanted : W;  // keys at a time
  Array<Array<V<T>, W>, R> sum;
  for (int j0 = 0; j0 < W; j0 += J) {
    Array<const T*, J> key;
    HEED_UNROLL
    for (int j = 0; j < J; ++j) key[j] = keys.data + smaller(j0 + j, n - 1) * keys.stride;
    Array<Array<V<T>, J>, R> tile;
    HEED_UNROLL
    for (int r = 0; r < R; ++r) {
      HEED_UNROLL
      for (int j = 0; j < J; ++j) tile[r][j] = V<T>{};
    }
    for (Index c = 0; c < f.whole; c += W) {
      Array<V<T>, J> x;
      HEED_UNROLL
      for (int j = 0; j < J; ++j) {
        x[j] = load(key[j] + c);
        __builtin_prefetch(key[j] + c + ahead);
      }
      HEED_UNROLL
      for (int r = 0; r < R; ++r) {
        const V<T> y = load(q + r * f.padded + c);
        HEED_UNROLL
        for (int j = 0; j < J; ++j) tile[r][j] += y * x[j];
      }
    }
    if (f.whole < f.count) {
      HEED_UNROLL
      for (int j = 0; j < J; ++j) {
        const V<T> x = reinterpret_cast<V<T>>(reinterpret_cast<Lanes<T>>(load(key[j] + keys.last)) & f.counts);
        HEED_UNROLL
        for (int r = 0; r < R; ++r) tile[r][j] += load(q + r * f.padded + f.whole) * x;
      }
    }
    HEED_UNROLL
    for (int r = 0; r < R; ++r) {
      HEED_UNROLL
      for (int j = 0; j < J; ++j) sum[r][j0 + j] = tile[r][j];
    }
  }
  for (int r = 0; r < R; ++r) store(scores + r * stride, sums_of<T>(sum[r]));
}

/// out ℝ^{R×C·W} += weights ℝ^{R×n}·values ℝ^{n×C·W}; see value_tile.
template <class T, int R, int C, bool SkipHidden>
HEED_INLINE void few_value_tile(const T* weights, Index weight_stride, const T* values, Index value_stride, Index n,
                                Index ahead, T* out, Index out_stride) {
  constexpr int W = width<T>;
  Array<Array<V<T>, C>, R> sum;
  HEED_UNROLL
  for (int r = 0; r < R; ++r) {
    HEED_UNROLL
    for (int c = 0; c < C; ++c) sum[r][c] = load(out + r * out_stride + c * W);
  }
  for (Index j = 0; j < n; ++j, values += value_stride) {
    Array<V<T>, C> x;
    HEED_UNROLL
    for (int c = 0; c < C; ++c) {
      x[c] = load(values + c * W);
      __builtin_prefetch(values + c * W + ahead);
    }
    HEED_UNROLL
    for (int r = 0; r < R; ++r) {
      const T weight = weights[r * weight_stride + j];
      if (SkipHidden && is_hidden_weight(weight)) continue;
      HEED_UNROLL
      for (int c = 0; c < C; ++c) sum[r][c] += weight * x[c];
    }
  }
  HEED_UNROLL
  for (int r = 0; r < R; ++r) {
    HEED_UNROLL
    for (int c = 0; c < C; ++c) store(out + r * out_stride + c * W, sum[r][c]);
  }
}

/// The vectors of a value from c on, C at a time and the rest one by one.
template <class T, int R, int C, bool SkipHidden>
HEED_INLINE void few_value_tiles(const T* weights, Index weight_stride, const FeatureRows<T>& values, Index n, Index c,
                                 const FeatureVectors<T>& f, Index ahead, T* out) {
  for (; c + C * width<T> <= f.whole; c += C * width<T>) {
    few_value_tile<T, R, C, SkipHidden>(weights, weight_stride, values.data + c, values.stride, n, ahead, out + c,
                                        f.padded);
  }
  if constexpr (C > 1) {
    few_value_tiles<T, R, 1, SkipHidden>(weights, weight_stride, values, n, c, f, ahead, out);
  } else if (f.whole < f.count) {
    few_value_tile<T, R, 1, SkipHidden>(weights, weight_stride, values.data + values.last, values.stride, n, ahead,
                                        out + f.whole, f.padded);
  }
}

/// out ℝ^{R×e} (f.padded apart) += weights ℝ^{R×n}·values.
template <class T, int R>
void few_values(const T* weights, Index weight_stride, const FeatureRows<T>& values, Index n,
                const FeatureVectors<T>& f, Index ahead, T* out) {
  constexpr int C = few_sums / R < 4 ? few_sums / R : 4;
  few_value_tiles<T, R, C, false>(weights, weight_stride, values, n, 0, f, ahead, out);
}

/// What both products do for `rows` rows: f.run<R>(first) for 4 rows at a time, or 1.
template <class F>
HEED_INLINE void by_few_rows(Index rows, const F& f) {
  Index r = 0;
  for (; r + 1 < rows; r += few_rows) f.template run<few_rows>(r);
  if (r < rows) f.template run<1>(r);
}
template <class T>
struct FewScores {
  const T* q;
  FeatureRows<T> keys;
  Index n;
  const FeatureVectors<T>& f;
  Index ahead;
  T* scores;
  Index stride;
  template <int R>
  HEED_INLINE void run(Index r) const {
    few_scores<T, R>(q + r * f.padded, keys, n, f, ahead, scores + r * stride, stride);
  }
};
template <class T>
struct FewValues {
  const T* weights;
  Index weight_stride;
  FeatureRows<T> values;
  Index n;
  const FeatureVectors<T>& f;
  Index ahead;
  T* out;
  template <int R>
  HEED_INLINE void run(Index r) const {
    few_values<T, R>(weights + r * weight_stride, weight_stride, values, n, f, ahead, out + r * f.padded);
  }
};

/// Scores ℝ^{rows×n} of the keys [first, first + n).
template <class T>
void score_few(Index rows, const T* q, const Strided<const T>& k, Index first, Index n, const FeatureVectors<T>& f,
               T* scores, Index stride, T* packed) {
  const Index end = first + n;
  for (Index j = first; j < end; j += width<T>) {
    const Index there = smaller(end - j, width<T>);
    by_few_rows(rows, FewScores<T>{q, rows_of<T>(k, j, there, f, packed), there, f, way_ahead<T>(k, j, end, f),
                                   scores + (j - first), stride});
  }
}

/// out ℝ^{rows×e} = weights ℝ^{rows×n}·the values [first, first + n). See value_tile for skip_hidden; it is rare, and
/// takes a row at a time: the bits are the same.
template <class T>
void sum_few_values(Index rows, const T* weights, Index weight_stride, const Strided<const T>& v, Index first, Index n,
                    const FeatureVectors<T>& f, bool skip_hidden, T* out, T* packed) {
  const Index end = first + n;
  for (Index i = 0; i < computed_rows(rows) * f.padded; ++i) out[i] = 0;
  for (Index j = first; j < end; j += width<T>, weights += width<T>) {
    const Index there = smaller(end - j, width<T>);
    const Index ahead = way_ahead<T>(v, j, end, f);
    const FeatureRows<T> values = rows_of<T>(v, j, there, f, packed);
    if (skip_hidden) {
      for (Index r = 0; r < rows; ++r)
        few_value_tiles<T, 1, 1, true>(weights + r * weight_stride, weight_stride, values, there, 0, f, ahead,
                                       out + r * f.padded);
    } else {
      by_few_rows(rows, FewValues<T>{weights, weight_stride, values, there, f, ahead, out});
    }
  }
}

/// The kernel.
template <class T>
struct FewQueries {
  /// What is known of all rows after one chunk: Σ weight·value, Σ weight and the largest score.
  struct Partial {
    T *out, *sum, *largest;

    Partial(T* memory, Index rows, const FeatureVectors<T>& f)
        : out(memory), sum(memory + computed_rows(rows) * f.padded), largest(sum + rows) {}
  };
  static Index partial_size(Index rows, Index e) {
    return computed_rows(rows) * FeatureVectors<T>(e).padded + rounded_up<T>(2 * rows);
  }

  /// How many T attend_chunk needs.
  static Index scratch_size(Index rows, Index d, Index e) {
    const FeatureVectors<T> key(d), value(e);
    return computed_rows(rows) * (key.padded + few_queries_chunk) + width<T> * greater(key.padded, value.padded);
  }

  /// The keys from `begin` up to the next chunk.
  static void attend_chunk(const FewQueriesTask<T>& task, Index begin, T* partial_memory, T* memory) {
    const Index rows = task.heads * task.t;
    const FeatureVectors<T> key(task.d), value(task.e);
    const Partial partial(partial_memory, rows, value);
    T* const q = memory;
    T* const scores = q + computed_rows(rows) * key.padded;
    T* const packed = scores + computed_rows(rows) * few_queries_chunk;

    const Index all = smaller(task.s - begin, few_queries_chunk);
    KeyRange seen{0, 0};  // by any row
    for (Index h = 0; h < task.heads; ++h) {
      const HeadRules<T> rules = task.rules(h);
      for (Index i = 0; i < task.t; ++i) {
        seen = joined(seen, part_of(keys_of(rules, i), begin, all));
      }
      const Strided<const T> head{task.q.data + h * task.q_head, task.q.row, task.q.column};
      pack_features<T>(head, task.t, key, rules.factor, q + h * task.t * key.padded);
    }
    for (Index i = rows * key.padded; i < computed_rows(rows) * key.padded; ++i) q[i] = 0;
    if (seen.first >= seen.end) {
      for (Index r = 0; r < rows; ++r) partial.sum[r] = 0;
      return;
    }
    seen.first = rounded_down<T>(seen.first);  // so that a score is the same whatever else is seen
    const Index n = seen.end - seen.first;
    begin += seen.first;
    const Index computed = rounded_up<T>(n);
    score_few<T>(rows, q, task.k, begin, n, key, scores, few_queries_chunk, packed);

    const Index soon = value.fit(task.v) ? smaller(rows_ahead(value), n) : 0;
    Index fetched = 0;
    for (Index h = 0; h < task.heads; ++h) {
      const HeadRules<T> rules = task.rules(h);
      for (Index i = 0; i < task.t; ++i) {
        const Index r = h * task.t + i;
        for (; fetched < soon * (r + 1) / rows; ++fetched)  // while the weights are computed
          fetch_row<T>(task.v.data + (begin + fetched) * task.v.row, task.e);
        T* const row = scores + r * few_queries_chunk;
        finish_scores(rules, row, computed, i, begin, part_of(keys_of(rules, i), begin, n));
        const T largest = largest_in_row(row, computed);
        partial.largest[r] = largest;
        partial.sum[r] = sum_of<T>(weigh_row<T, true>(row, computed, largest == hidden<T> ? T(0) : largest, V<T>{}));
        if (rules.drop != nullptr) rules.drop(rules, row, i, begin, n);
      }
    }

    // What is hidden may be NaN or infinite. That shows in the result, and is too rare to look for beforehand.
    sum_few_values<T>(rows, scores, few_queries_chunk, task.v, begin, n, value, false, partial.out, packed);
    V<T> check{};
    for (Index i = 0; i < rows * value.padded; i += width<T>) check += load(partial.out + i) * finite_test<T>();
    const T finite = sum_of<T>(check);
    if (finite != finite)
      sum_few_values<T>(rows, scores, few_queries_chunk, task.v, begin, n, value, true, partial.out, packed);
  }

  /// e^(from − largest); 1 and not NaN from an infinity to itself.
  HEED_INLINE static T decay(T from, T largest) {
    return exponential<T>(all<T>(from == largest ? T(0) : from - largest))[0];
  }

  /// The partial results of all chunks, one after another → the rows of `out`.
  static void finish(const FewQueriesTask<T>& task, T* partials) {
    const Index rows = task.heads * task.t;
    const FeatureVectors<T> value(task.e);
    const Index size = partial_size(rows, task.e);
    const Index chunks = (task.s + few_queries_chunk - 1) / few_queries_chunk;
    for (Index h = 0; h < task.heads; ++h) {
      const HeadRules<T> rules = task.rules(h);
      for (Index i = 0; i < task.t; ++i) {
        const Index r = h * task.t + i;
        T largest = rules.first_largest, sum = rules.first_sum;  // every row begins with its sink
        bool sees = false;
        for (Index n = 0; n < chunks; ++n) {
          const Partial partial(partials + n * size, rows, value);
          if (partial.sum[r] == 0) continue;  // nothing seen, nothing written
          sees = true;
          if (largest < partial.largest[r]) largest = partial.largest[r];
        }
        if (sees) sum *= decay(rules.first_largest, largest);
        for (Index n = 0; n < chunks; ++n) {
          const Partial partial(partials + n * size, rows, value);
          if (partial.sum[r] == 0) continue;
          partial.largest[r] = decay(partial.largest[r], largest);
          sum += partial.sum[r] * partial.largest[r];
        }
        const T divisor = sees ? sum : T(1);  // where nothing is seen, the row is 0
        T* const to = task.out.data + h * task.out_head + i * task.out.row;
        for (Index c = 0; c < value.padded; c += width<T>) {
          V<T> total{};
          for (Index n = 0; n < chunks; ++n) {
            const Partial partial(partials + n * size, rows, value);
            if (partial.sum[r] != 0) total += partial.largest[r] * load(partial.out + r * value.padded + c);
          }
          total = total / divisor;
          const Index unused = c < value.whole ? 0 : value.padded - value.count;
          if (unused == 0 && task.out.column == 1) {
            store(to + c, total);
          } else {
            for (Index w = unused; w < width<T>; ++w) to[(c + w - unused) * task.out.column] = total[w];
          }
        }
        if (rules.write_logsumexp != nullptr) rules.write_logsumexp(rules, i, largest, sum);
      }
    }
  }
};
