// The online softmax ("Online normalizer calculation for softmax", Milakov and Gimelshein, 2018). Read once for
// each instruction set.

/// The rows of a tile, rounded up to vectors: so many numbers are read where there is one for each row.
template <class T>
inline constexpr int row_lanes = (tile_rows + width<T> - 1) / width<T>* width<T>;

/// Hides the scores of a row from one on; `end` is a multiple of the vector's width.
template <class T, int... I>
HEED_INLINE void hide_from(T* row, Index from, Index end, IntegerList<I...>) {
  for (Index j = from / width<T> * width<T>; j < end; j += width<T>)
    store(row + j, Lanes<T>{I...} < static_cast<typename Simd<T>::Lane>(from - j) ? load(row + j) : all<T>(hidden<T>));
}

/// Scores of query i and `computed` keys from first_key on, of which `seen` may be seen → final scores: −inf where
/// hidden.
template <class T>
HEED_INLINE void finish_scores(const HeadRules<T>& rules, T* scores, Index computed, Index i, Index first_key,
                               KeyRange seen) {
  if (rules.edit != nullptr) rules.edit(rules, scores + seen.first, i, first_key + seen.first, seen.end - seen.first);
  for (Index j = 0; j < seen.first; ++j) scores[j] = hidden<T>;
  hide_from(scores, seen.end, computed, FirstIntegers<width<T>>{});
}

template <class T>
HEED_INLINE T largest_in_row(const T* row, Index n) {
  constexpr int W = width<T>;
  V<T> most[2] = {all<T>(hidden<T>), all<T>(hidden<T>)};
  Index j = 0;
  for (; j + 2 * W <= n; j += 2 * W) {
    most[0] = larger<T>(most[0], load(row + j));
    most[1] = larger<T>(most[1], load(row + j + W));
  }
  if (j < n) most[0] = larger<T>(most[0], load(row + j));
  return largest_of<T>(larger<T>(most[0], most[1]));
}

/// `largest`, the largest score so far, brought up to date with what was found; returns by how much earlier sums decay.
/// Weights are e^(score − base). Where nothing is found nothing changes, whatever the sink, which may be NaN.
template <class T>
HEED_INLINE V<T> advance(V<T>& largest, V<T> found, V<T>& base) {
  const V<T> before = largest;
  const Lanes<T> nothing = found == all<T>(hidden<T>);
  largest = larger<T>(before, found);
  base = nothing ? V<T>{} : largest;
  return exponential<T>((nothing | (before == largest)) ? V<T>{} : before - base);  // infinity − infinity is NaN
}

/// What a row is divided by: where nothing is seen, it is 0 and stays so.
template <class T>
HEED_INLINE V<T> divisor_of(V<T> sum) {
  return sum == 0 ? all<T>(1) : sum;
}

/// Final scores of a row → weights e^(score − base); with MarkHidden, those of hidden keys are −0, not 0. Returns sum +
/// Σ weights, in lanes.
template <class T, bool MarkHidden>
HEED_INLINE V<T> weigh_row(T* row, Index n, T base, V<T> sum) {
  for (Index j = 0; j < n; j += width<T>) {
    const V<T> score = load(row + j);
    const V<T> weight = exponential<T>(score - base);
    sum += weight;
    store(row + j, MarkHidden ? marked<T>(weight, score) : weight);
  }
  return sum;
}

/// Scores of some rows, n each (a multiple of the vector's width, −inf where hidden) → weights e^(score − largest).
/// What is known of each row is brought up to date: its largest score and Σ e^(score − largest) in lanes; decay is by
/// how much what was summed before decays. These three have one number for each of the row_lanes. With MarkHidden,
/// hidden weights become −0, not 0.
template <class T, bool MarkHidden>
void soften_rows(T* scores, Index stride, Index rows, Index n, T* largest, V<T>* sums, T* decay) {
  constexpr int W = width<T>;
  Array<T, row_lanes<T>> base;
  for (Index m = 0; m < row_lanes<T>; ++m) base[m] = m < rows ? largest_in_row(scores + m * stride, n) : hidden<T>;
  for (Index m = 0; m < row_lanes<T>; m += W) {  // e^x of all rows at once
    V<T> now = load(largest + m), base_now;
    store(decay + m, advance<T>(now, load(base + m), base_now));
    store(largest + m, now);
    store(base + m, base_now);
  }
  for (Index m = 0; m < rows; ++m)
    sums[m] = weigh_row<T, MarkHidden>(scores + m * stride, n, base[m], sums[m] * decay[m]);
}

/// x / divisor in a third of the time of a division; with fused multiply-adds, which -ffp-contract=off takes away,
/// exactly rounded but for rare cases
/// ("Computation of elementary functions on the IBM RISC System/6000 processor", Markstein, 1990).
template <class T>
HEED_INLINE V<T> quotient(V<T> x, V<T> divisor, [[maybe_unused]] V<T> inverse) {
#if HEED_VECTOR_BYTES == 16  // perhaps without them
  return x / divisor;
#else
  const V<T> first = x * inverse;
  const V<T> better = first + (x - first * divisor) * inverse;
  return better == better ? better : first;  // infinity − infinity
#endif
}

/// The same scores once more → normalised weights e^(score − largest) / sum, hidden ones −0.
template <class T>
void normalise_rows(T* scores, Index stride, Index rows, Index n, const T* largest, const V<T>* sums) {
  for (Index m = 0; m < rows; ++m) {
    T* const row = scores + m * stride;
    const T base = largest[m] == hidden<T> ? T(0) : largest[m];
    const V<T> divisor = divisor_of<T>(all<T>(sum_of<T>(sums[m])));
    const V<T> inverse = T(1) / divisor;
    for (Index j = 0; j < n; j += width<T>) {
      const V<T> score = load(row + j);
      const V<T> weight = quotient<T>(exponential<T>(score - base), divisor, inverse);
      store(row + j, marked<T>(weight, score));
    }
  }
}
