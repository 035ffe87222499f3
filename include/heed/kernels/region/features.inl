// Keys and values where they lie, as vectors of features. Read once for each instruction set.

/// The features of a key or a value in vectors: whole ones, and what is left over at the end of one more, whose other
/// lanes do not count.
template <class T>
struct FeatureVectors {
  Index count;      // features
  Index whole;      // that fill vectors
  Index padded;     // numbers in all vectors
  Lanes<T> counts;  // the lanes of the last vector that count, all bits

  explicit FeatureVectors(Index features)
      : count(features), whole(rounded_down<T>(features)), padded(rounded_up<T>(features)) {
    for (int i = 0; i < width<T>; ++i) counts[i] = i < whole + width<T> - count ? 0 : -1;
  }
  /// Whether rows of features at these strides can be used in place: their last vector begins before what is left over.
  bool fit(const Strided<const T>& x) const { return x.column == 1 && count >= width<T>; }
};

/// Rows of features, as vectors: in place or packed.
template <class T>
struct FeatureRows {
  const T* data;
  Index stride;
  Index last;  // where in a row the last vector begins that is not whole
};

/// Rows of x → rows of f.padded numbers, times factor.
template <class T>
void pack_features(const Strided<const T>& x, Index rows, const FeatureVectors<T>& f, T factor, T* to) {
  const Index rest = f.count - f.whole;
  pack_rows<T>(x.data, x.row, x.column, rows, f.whole, factor, to, f.padded);
  if (rest == 0) return;
  for (Index r = 0; r < rows; ++r)
    for (Index i = f.whole; i < f.padded - rest; ++i) to[r * f.padded + i] = 0;
  pack_rows<T>(x.data + f.whole * x.column, x.row, x.column, rows, rest, factor, to + f.padded - rest, f.padded);
}

/// n rows of x from `first` on, packed where they cannot be used in place.
template <class T>
FeatureRows<T> rows_of(const Strided<const T>& x, Index first, Index n, const FeatureVectors<T>& f, T* memory) {
  const Strided<const T> part{x.data + first * x.row, x.row, x.column};
  if (f.fit(x)) return {part.data, x.row, f.count - width<T>};
  pack_features<T>(part, n, f, T(1), memory);
  return {memory, f.padded, f.whole};
}

/// How many rows lie between what is used and what is fetched: 8 KB, in whole blocks of a vector's width of rows. The
/// processor alone fetches nothing across pages and after pauses: with this the loops read 1.2 to 1.9 times as fast.
template <class T>
Index rows_ahead(const FeatureVectors<T>& f) {
  const Index bytes = width<T> * f.count * static_cast<Index>(sizeof(T));
  return (few_queries_ahead + bytes - 1) / bytes * width<T>;
}

/// Fetches some features that lie in a row.
template <class T>
HEED_INLINE void fetch_row(const T* row, Index features) {
  constexpr Index line = 64 / static_cast<Index>(sizeof(T));
  for (Index c = 0; c < features; c += line) __builtin_prefetch(row + c);
}

/// From a block of x at row j to the one that should be fetched, if there are rows before `end`; else 0.
template <class T>
Index way_ahead(const Strided<const T>& x, Index j, Index end, const FeatureVectors<T>& f) {
  const Index ahead = rows_ahead(f);
  return f.fit(x) && j + ahead + width<T> <= end ? ahead * x.row : 0;
}
