// Attention of few pairs, with a query in each lane: nothing is packed but the queries, nothing is added up across
// lanes, and all memory is on the stack. Read once for each instruction set.

template <class T>
class Small {
 public:
  Small(const HeadTask<T>& task, const HeadRules<T>& rules)
      : task_(task), rules_(rules), q_(memory_), out_(q_ + task.d), weights_(out_ + task.e) {}

  void run() {
    for (first_ = task_.first_query; first_ < task_.end_query; first_ += width<T>) {
      queries_ = smaller(task_.end_query - first_, width<T>);
      score();
      edit_scores();
      soften();
      if (rules_.change != nullptr || rules_.drop != nullptr) change_weights();
      add_values();
      finish();
    }
  }

 private:
  T* lanes(V<T>* vectors) { return reinterpret_cast<T*>(vectors); }

  void score() {
    pack_columns<T>(task_.q.data + first_ * task_.q.row, task_.q.row, task_.q.column, queries_, task_.d, lanes(q_),
                    width<T>);
    for (Index c = 0; c < task_.d; ++c) q_[c] *= rules_.factor;
    Index j = 0;
    for (; j + 4 <= task_.s; j += 4) score_keys<4>(j);
    for (; j < task_.s; ++j) score_keys<1>(j);
  }

  template <int N>
  HEED_INLINE void score_keys(Index j) {
    const T* key = task_.k.data + j * task_.k.row;
    const Index row = task_.k.row, column = task_.k.column;
    Array<V<T>, N> sum;
    HEED_UNROLL
    for (int n = 0; n < N; ++n) sum[n] = V<T>{};
    for (Index c = 0; c < task_.d; ++c, key += column) {
      const V<T> x = q_[c];
      HEED_UNROLL
      for (int n = 0; n < N; ++n) sum[n] += x * key[n * row];
    }
    HEED_UNROLL
    for (int n = 0; n < N; ++n) weights_[j + n] = sum[n];
  }

  /// Final scores, edited a query at a time: −inf where it sees nothing.
  void edit_scores() {
    T* const scores = lanes(weights_);
    for (Index m = 0; m < queries_; ++m) {
      const KeyRange seen = part_of(keys_of(rules_, first_ + m), 0, task_.s);
      if (rules_.edit != nullptr) {
        Array<T, small_room> row;
        for (Index j = seen.first; j < seen.end; ++j) row[j] = scores[j * width<T> + m];
        rules_.edit(rules_, row + seen.first, first_ + m, seen.first, seen.end - seen.first);
        for (Index j = seen.first; j < seen.end; ++j) scores[j * width<T> + m] = row[j];
      }
      for (Index j = 0; j < seen.first; ++j) scores[j * width<T> + m] = hidden<T>;
      for (Index j = seen.end; j < task_.s; ++j) scores[j * width<T> + m] = hidden<T>;
    }
  }

  void soften() {
    V<T> found = all<T>(hidden<T>), base;
    for (Index j = 0; j < task_.s; ++j) found = larger<T>(found, weights_[j]);
    largest_ = all<T>(rules_.first_largest);
    sum_ = advance<T>(largest_, found, base) * rules_.first_sum;
    for (Index j = 0; j < task_.s; ++j) {
      const V<T> weight = exponential<T>(weights_[j] - base);
      sum_ += weight;
      weights_[j] = marked<T>(weight, weights_[j]);
    }
  }

  void change_weights() {
    const V<T> divisor = divisor_of<T>(sum_);
    T* const weights = lanes(weights_);
    if (rules_.change != nullptr)
      for (Index j = 0; j < task_.s; ++j) weights_[j] = normalised<T>(weights_[j], divisor);
    for (Index m = 0; m < queries_; ++m) {
      Array<T, small_room> row;
      for (Index j = 0; j < task_.s; ++j) row[j] = weights[j * width<T> + m];
      if (rules_.change != nullptr) rules_.change(rules_, row, first_ + m, 0, task_.s);
      if (rules_.drop != nullptr) rules_.drop(rules_, row, first_ + m, 0, task_.s);
      for (Index j = 0; j < task_.s; ++j) weights[j * width<T> + m] = row[j];
    }
  }

  void add_values() {
    V<T> not_finite{};  // 0, else NaN
    Index c = 0;
    for (; c + 4 <= task_.e; c += 4) not_finite += add_columns<4>(c);
    for (; c < task_.e; ++c) not_finite += add_columns<1>(c);
    const T any = sum_of<T>(not_finite);
    if (any != any) add_only_seen_values();
  }

  template <int N>
  HEED_INLINE V<T> add_columns(Index c) {
    const T* value = task_.v.data + c * task_.v.column;
    const Index row = task_.v.row, column = task_.v.column;
    Array<V<T>, N> sum;
    HEED_UNROLL
    for (int n = 0; n < N; ++n) sum[n] = V<T>{};
    for (Index j = 0; j < task_.s; ++j, value += row) {
      const V<T> weight = weights_[j];
      HEED_UNROLL
      for (int n = 0; n < N; ++n) sum[n] += weight * value[n * column];
    }
    V<T> not_finite{};
    HEED_UNROLL
    for (int n = 0; n < N; ++n) {
      out_[c + n] = sum[n];
      not_finite += sum[n] * finite_test<T>();
    }
    return not_finite;
  }

  /// Some value is NaN or infinite: it shows where it is seen.
  void add_only_seen_values() {
    const T* const weights = lanes(weights_);
    for (Index c = 0; c < task_.e; ++c)
      for (Index m = 0; m < width<T>; ++m) {
        T sum = 0;
        for (Index j = 0; j < task_.s; ++j) {
          const T weight = weights[j * width<T> + m];
          if (!is_hidden_weight(weight)) sum += weight * task_.v.data[j * task_.v.row + c * task_.v.column];
        }
        lanes(out_)[c * width<T> + m] = sum;
      }
  }

  void finish() {
    if (rules_.change == nullptr) {
      const V<T> divisor = divisor_of<T>(sum_);
      for (Index c = 0; c < task_.e; ++c) out_[c] = out_[c] / divisor;
    }
    for (Index m = 0; m < queries_; ++m) {
      T* const to = task_.out.data + (first_ + m) * task_.out.row;
      for (Index c = 0; c < task_.e; ++c) to[c * task_.out.column] = lanes(out_)[c * width<T> + m];
      if (rules_.write_logsumexp != nullptr)
        rules_.write_logsumexp(rules_, first_ + m, largest_[static_cast<unsigned>(m)], sum_[static_cast<unsigned>(m)]);
    }
  }

  const HeadTask<T>& task_;
  const HeadRules<T>& rules_;
  V<T> largest_, sum_;
  V<T> memory_[small_room];
  V<T>*q_, *out_, *weights_;  // of each feature, of each value's element, of each key
  Index first_ = 0, queries_ = 0;
};
