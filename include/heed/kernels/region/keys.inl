// Which keys a query sees. Read once for each instruction set.

template <class T>
HEED_INLINE KeyRange keys_of(const HeadRules<T>& rules, Index i) {
  return rules.keys == nullptr ? KeyRange{0, rules.length} : rules.keys(rules, i);
}

/// The part of a run that lies among n keys from `first` on, counted from there; empty runs stay empty.
HEED_INLINE KeyRange part_of(KeyRange run, Index first, Index n) {
  const Index begin = smaller(greater(run.first - first, 0), n);
  return {begin, greater(smaller(run.end - first, n), begin)};
}

/// The smallest run with all of both.
HEED_INLINE KeyRange joined(KeyRange a, KeyRange b) {
  if (b.first >= b.end) return a.first < a.end ? a : KeyRange{0, 0};
  if (a.first >= a.end) return b;
  return {smaller(a.first, b.first), greater(a.end, b.end)};
}
