// Copies that the products read in a row. Read once for each instruction set.

/// rows × columns numbers from `from`, which has any strides, to rows of `to_stride`: times factor.
template <class T>
void pack_rows(const T* from, Index row_stride, Index column_stride, Index rows, Index columns, T factor, T* to,
               Index to_stride) {
  for (Index r = 0; r < rows; ++r) {
    const T* const source = from + r * row_stride;
    T* const target = to + r * to_stride;
    if (column_stride == 1) {
      Index c = 0;
      for (; c + width<T> <= columns; c += width<T>) store(target + c, load(source + c) * factor);
      for (; c < columns; ++c) target[c] = source[c] * factor;
    } else {
      for (Index c = 0; c < columns; ++c) target[c] = source[c * column_stride] * factor;
    }
  }
}

/// Rows a and b of a square whose blocks of n columns are transposed with those n rows below.
template <class T, int n, int... I>
HEED_INLINE void exchange_blocks(V<T>& a, V<T>& b, IntegerList<I...>) {
  constexpr int W = width<T>;
#if defined(__clang__) || __GNUC__ >= 12
  const V<T> first = __builtin_shufflevector(a, b, ((I & n) ? W + I - n : I)...);
  b = __builtin_shufflevector(a, b, ((I & n) ? W + I : I + n)...);
#else
  const V<T> first = __builtin_shuffle(a, b, Lanes<T>{((I & n) ? W + I - n : I)...});
  b = __builtin_shuffle(a, b, Lanes<T>{((I & n) ? W + I : I + n)...});
#endif
  a = first;
}

template <class T, int n>
HEED_INLINE void exchange_all(Array<V<T>, width<T>>& v) {
  if constexpr (n > 0) {
    HEED_UNROLL
    for (int i = 0; i < width<T>; ++i)
      if ((i & n) == 0) exchange_blocks<T, n>(v[i], v[i + n], FirstIntegers<width<T>>{});
    exchange_all<T, n / 2>(v);
  }
}

/// A square as wide as a vector, transposed.
template <class T>
HEED_INLINE void transpose_square(const T* from, Index row_stride, T* to, Index to_stride) {
  constexpr int W = width<T>;
  Array<V<T>, W> v;
  HEED_UNROLL
  for (int i = 0; i < W; ++i) v[i] = load(from + i * row_stride);
  exchange_all<T, W / 2>(v);
  HEED_UNROLL
  for (int i = 0; i < W; ++i) store(to + i * to_stride, v[i]);
}

/// ℝ^{rows×columns} of any strides → its transpose in rows of a vector each, `to_stride` apart; of rows there may be
/// more than lanes, and zeros stand where there are fewer.
template <class T>
void pack_columns(const T* from, Index row_stride, Index column_stride, Index rows, Index columns, T* to,
                  Index to_stride) {
  constexpr int W = width<T>;
  Index c = 0;
  if (rows >= W && column_stride == 1)
    for (; c + W <= columns; c += W) transpose_square(from + c, row_stride, to + c * to_stride, to_stride);
  for (; c < columns; ++c)
    for (int m = 0; m < W; ++m) to[c * to_stride + m] = m < rows ? from[m * row_stride + c * column_stride] : T(0);
}

/// Keys ℝ^{n×d} of any strides → panels ℝ^{d×panel_width} one after another, zeros where there is no key.
template <class T>
void pack_keys(const T* keys, Index key_stride, Index feature_stride, Index n, Index d, T* panels) {
  for (Index j0 = 0; j0 < n; j0 += panel_width<T>, panels += d * panel_width<T>) {
    for (int part = 0; part < panel_width<T>; part += width<T>)
      pack_columns<T>(keys + (j0 + part) * key_stride, key_stride, feature_stride, n - j0 - part, d, panels + part,
                      panel_width<T>);
  }
}
