// Seconds, and the middle of many.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

template <class F>
double seconds(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class F>
double best_seconds(int repetitions, const F& f) {
  double best = seconds(f);
  for (int n = 1; n < repetitions; ++n) best = std::min(best, seconds(f));
  return best;
}

inline double least(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }

inline double median(std::vector<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

}  // namespace bench
