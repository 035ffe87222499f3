// e^x for x ≤ 0 in vectors. Read once for each instruction set.

/// 2^r = Σ c[i]·r^(n−i), minimax in relative error with 2^0 = 1 exactly: c on [−1/2, 1/2], 9.2e-8 in float and 3.4e-18
/// in double; floor_c on [0, 1], 8.2e-8 and 3.2e-18.
template <class T>
struct Exponential;
template <>
struct Exponential<float> {
  static constexpr int mantissa_bits = 23;
  static constexpr float magic = 0x1.8p23f + 127;  // x + magic has round(x) + 127 in its lowest bits
  static constexpr float log2_e = 0x1.715476p0f;
  static constexpr float lowest = -87.3f;  // below, e^x is no normal number
  static constexpr float c[] = {0x1.5bba18p-10f, 0x1.3cea88p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f, 0x1.62e42ap-1f, 1};
  static constexpr float floor_c[] = {0x1.e974fcp-10f, 0x1.277854p-7f, 0x1.c91ce6p-5f,
                                      0x1.ebdb56p-3f,  0x1.62e4bap-1f, 1};
};
template <>
struct Exponential<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr double magic = 0x1.8p52 + 1023;
  static constexpr double log2_e = 0x1.71547652b82fep0;
  static constexpr double lowest = -708.3;
  static constexpr double c[] = {0x1.e79ba5e93da52p-32, 0x1.e61b4f5049cdcp-28, 0x1.b5267cea5f68ep-24,
                                 0x1.62bfc79d7642ap-20, 0x1.ffcbfba97c6d7p-17, 0x1.4309130ed8bc8p-13,
                                 0x1.5d87fe78cd6dcp-10, 0x1.3b2ab6fba011ap-7,  0x1.c6b08d7049fe8p-5,
                                 0x1.ebfbdff82c5a4p-3,  0x1.62e42fefa39efp-1,  1};
  static constexpr double floor_c[] = {0x1.58566da9a5cddp-31, 0x1.c2c479b29fb1ep-28, 0x1.b85f42b46ee69p-24,
                                       0x1.628f35860eba6p-20, 0x1.ffcfc6a97d458p-17, 0x1.4308fa1dd361cp-13,
                                       0x1.5d87ff4d224cap-10, 0x1.3b2ab6f734179p-7,  0x1.c6b08d7065837p-5,
                                       0x1.ebfbdff82c04bp-3,  0x1.62e42fefa39f5p-1,  1};
};

template <class T, unsigned n>
HEED_INLINE V<T> polynomial(const T (&c)[n], V<T> r) {
  V<T> sum = all<T>(c[0]);
  HEED_UNROLL
  for (unsigned i = 1; i < n; ++i) sum = sum * r + c[i];
  return sum;
}

#if HEED_VECTOR_BYTES == 64
/// p·2^⌊exponent⌋ in two instructions, 0 where x is below the lowest: with vreduce above 11 instructions for an e^x
/// instead of 14 (DECISIONS has what that gains).
HEED_INLINE V<float> scaled_by_power(V<float> p, V<float> exponent, V<float> x) {
  V<float> result;
  asm("vcmpnltps %3, %4, %%k1\n\tvscalefps %2, %1, %0%{%%k1%}%{z%}"
      : "=v"(result)
      : "v"(p), "v"(exponent), "v"(all<float>(Exponential<float>::lowest)), "v"(x)
      : "k1");
  return result;
}
HEED_INLINE V<double> scaled_by_power(V<double> p, V<double> exponent, V<double> x) {
  V<double> result;
  asm("vcmpnltpd %3, %4, %%k1\n\tvscalefpd %2, %1, %0%{%%k1%}%{z%}"
      : "=v"(result)
      : "v"(p), "v"(exponent), "v"(all<double>(Exponential<double>::lowest)), "v"(x)
      : "k1");
  return result;
}
#endif

/// e^x for x ≤ 0: exactly 0 below `lowest` (at −inf too), exactly 1 at 0; NaN stays NaN. The factor log2
/// e costs nothing in the two multiplications and additions.
template <class T>
HEED_INLINE V<T> exponential(V<T> x) {
  using E = Exponential<T>;
#if HEED_VECTOR_BYTES == 64
  const V<T> exponent = x * E::log2_e;
  V<T> r;  // exponent − ⌊exponent⌋: $9 is no bits of fraction, rounded down, no exceptions
  if constexpr (sizeof(T) == 4) {
    asm("vreduceps $9, %1, %0" : "=v"(r) : "v"(exponent));
  } else {
    asm("vreducepd $9, %1, %0" : "=v"(r) : "v"(exponent));
  }
  return scaled_by_power(polynomial<T>(E::floor_c, r), exponent, x);
#else
  // Opaque, or -fassociative-math would take the magic number off in another order.
  const V<T> shifted = opaque<T>(x * E::log2_e + E::magic);
  const V<T> r = x * E::log2_e - opaque<T>(shifted - E::magic);
  // A product, not a sum of exponents: NaN times anything stays NaN.
  const V<T> power = reinterpret_cast<V<T>>(reinterpret_cast<Lanes<T>>(shifted) << E::mantissa_bits);
  return x < E::lowest ? V<T>{} : polynomial<T>(E::c, r) * power;
#endif
}
