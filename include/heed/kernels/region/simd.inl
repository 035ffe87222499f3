// Vectors of HEED_VECTOR_BYTES bytes. Read once for each instruction set, inside its region: no includes.

#define HEED_INLINE inline __attribute__((always_inline))

/// The integer of so many bytes, for lanes and bits.
template <unsigned bytes>
struct IntegerOf;
template <>
struct IntegerOf<4> {
  using Type = int;
};
template <>
struct IntegerOf<8> {
  using Type = long long;
};

template <class T>
struct Simd {
  static constexpr int width = HEED_VECTOR_BYTES / static_cast<int>(sizeof(T));
  using Lane = typename IntegerOf<sizeof(T)>::Type;
  typedef T Vector __attribute__((vector_size(HEED_VECTOR_BYTES)));
  typedef T Unaligned __attribute__((vector_size(HEED_VECTOR_BYTES), aligned(alignof(T)), may_alias));
  typedef Lane Lanes __attribute__((vector_size(HEED_VECTOR_BYTES)));
};
template <class T>
using V = typename Simd<T>::Vector;
template <class T>
inline constexpr int width = Simd<T>::width;
/// As many integers of the same size, for numbers of lanes and for bits.
template <class T>
using Lanes = typename Simd<T>::Lanes;

HEED_INLINE Index smaller(Index a, Index b) { return a < b ? a : b; }
HEED_INLINE Index greater(Index a, Index b) { return a < b ? b : a; }
/// Rounded to whole vectors.
template <class T>
HEED_INLINE Index rounded_down(Index n) {
  return n / width<T> * width<T>;
}
template <class T>
HEED_INLINE Index rounded_up(Index n) {
  return rounded_down<T>(n + width<T> - 1);
}

/// The score of a hidden pair.
template <class T>
inline constexpr T hidden = -__builtin_huge_val();

/// An array of n.
template <class E, int n>
using Array = E[static_cast<unsigned>(n)];

template <class T>
HEED_INLINE V<T> load(const T* from) {
  return *reinterpret_cast<const typename Simd<T>::Unaligned*>(from);
}
template <class T>
HEED_INLINE void store(T* to, V<T> v) {
  *reinterpret_cast<typename Simd<T>::Unaligned*>(to) = v;
}
template <class T>
HEED_INLINE V<T> all(T x) {
  return V<T>{} + x;
}
/// v, of which the compiler knows nothing more: it may not simplify what is computed with it.
template <class T>
HEED_INLINE V<T> opaque(V<T> v) {
#if defined(__aarch64__)
  asm("" : "+w"(v));
#elif HEED_VECTOR_BYTES == 64
  asm("" : "+v"(v));
#elif defined(__SSE2__)
  asm("" : "+x"(v));
#else
  asm("" : "+m"(v));
#endif
  return v;
}
/// Times x: 0 where x is finite, else NaN. (With -fno-signed-zeros GCC 12 takes x·0 for 0 in any case.)
template <class T>
HEED_INLINE V<T> finite_test() {
  return opaque<T>(V<T>{});
}

/// A NaN in b is lost, one in a is not.
template <class T>
HEED_INLINE V<T> larger(V<T> a, V<T> b) {
  return a < b ? b : a;
}
/// The weight of a hidden pair, as bits: −0. By bits, here and below: for the compiler with -fno-signed-zeros 0 and −0
/// are one.
template <class T>
inline constexpr typename Simd<T>::Lane hidden_weight = typename Simd<T>::Lane{1} << (8 * sizeof(T) - 1);

template <class T>
HEED_INLINE V<T> hidden_where(Lanes<T> lanes, V<T> weight) {
  return reinterpret_cast<V<T>>((reinterpret_cast<Lanes<T>>(weight) & ~lanes) | (lanes & hidden_weight<T>));
}
/// Weights, those of hidden pairs marked, whatever they are: NaN where the largest score is.
template <class T>
HEED_INLINE V<T> marked(V<T> weight, V<T> score) {
  return hidden_where<T>(score == all<T>(hidden<T>), weight);
}
/// weight / divisor, but for hidden weights, which stay: the divisor may be NaN.
template <class T>
HEED_INLINE V<T> normalised(V<T> weight, V<T> divisor) {
  return hidden_where<T>(reinterpret_cast<Lanes<T>>(weight) == hidden_weight<T>, weight / divisor);
}
template <class T>
HEED_INLINE bool is_hidden_weight(T weight) {
  typename Simd<T>::Lane bits;
  __builtin_memcpy(&bits, &weight, sizeof bits);
  return bits == hidden_weight<T>;
}

template <int... I>
struct IntegerList {};
template <int n, int... I>
struct MakeIntegers : MakeIntegers<n - 1, n - 1, I...> {};
template <int... I>
struct MakeIntegers<0, I...> {
  using List = IntegerList<I...>;
};
template <int n>
using FirstIntegers = typename MakeIntegers<n>::List;

/// v with its lanes turned by n.
template <class T, int n, int... I>
HEED_INLINE V<T> turned(V<T> v, IntegerList<I...>) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(v, v, ((I + n) % width<T>)...);
#else
  return __builtin_shuffle(v, Lanes<T>{((I + n) % width<T>)...});
#endif
}

/// Halves are folded, so that the order is the same for every vector.
template <class T, int n = width<T> / 2>
HEED_INLINE T largest_of(V<T> v) {
  if constexpr (n == 0) {
    return v[0];
  } else {
    return largest_of<T, n / 2>(larger<T>(v, turned<T, n>(v, FirstIntegers<width<T>>{})));
  }
}
template <class T, int n = width<T> / 2>
HEED_INLINE T sum_of(V<T> v) {
  if constexpr (n == 0) {
    return v[0];
  } else {
    return sum_of<T, n / 2>(v + turned<T, n>(v, FirstIntegers<width<T>>{}));
  }
}

/// The register tile of both products: so many rows by two vectors.
inline constexpr int tile_rows = HEED_TILE_ROWS;
static_assert(tile_rows % 2 == 0, "value_rows takes two at a time where values are not finite");
template <class T>
inline constexpr int panel_width = 2 * width<T>;
