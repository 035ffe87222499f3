// Executors, and calls whose bits must not depend on who computes them.
#pragma once

#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>
#include <heed/core/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace support {

/// Runs the parts of a loop on so many threads, in another order each time: a free one takes the next.
class Threads {
 public:
  explicit Threads(int threads, unsigned seed = 1) : threads_(threads), seed_(seed) {}

  void operator()(Index count, heed::Task task) const {
    std::vector<Index> parts(static_cast<std::size_t>(count));
    std::iota(parts.begin(), parts.end(), Index{0});
    std::mt19937 rng(seed_++);
    std::shuffle(parts.begin(), parts.end(), rng);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t n; (n = next++) < parts.size();) task(parts[n]);
    };
    std::vector<std::thread> others;
    for (int n = 1; n < threads_; ++n) others.emplace_back(work);
    work();
    for (auto& thread : others) thread.join();
  }

 private:
  int threads_;
  mutable std::atomic<unsigned> seed_;
};

/// In order, on the calling thread.
inline void serially(Index count, heed::Task task) {
  for (Index n = 0; n < count; ++n) task(n);
}

/// Sizes at which work is shared in different ways: few queries, with few keys and with many; one part a head; several.
inline const Sizes thread_sizes[] = {
    {2, 4, 2, 1, 70, 16, 16},    {2, 4, 2, 2, 70, 16, 16},   {1, 2, 1, 3, 3000, 8, 5},
    {1, 6, 2, 5, 300, 16, 16},   {3, 1, 1, 8, 1000, 4, 8},   {2, 2, 1, 6, 6, 3, 2},
    {1, 4, 2, 197, 197, 32, 16}, {1, 2, 1, 1030, 130, 8, 8}, {2, 1, 1, 1537, 33, 5, 7}};

/// A result and what it is of.
template <class T>
struct NamedResult {
  std::string name;
  heed::Tensor<T, 4> out;
};

/// Attention of some sizes, plain and with modifiers, with `options` in each call.
template <class T, class... Options>
std::vector<NamedResult<T>> results_at_sizes(const Options&... options) {
  std::vector<NamedResult<T>> results;
  for (const Sizes& n : thread_sizes) {
    const auto x = random_inputs<T>(n, 7);
    const auto add = [&](const char* name, const auto&... modifiers) {
      results.push_back({std::string(name) + ", " + to_string(n),
                         heed::scaled_dot_product_attention(x.q, x.k, x.v, modifiers..., options...)});
    };
    add("plain");
    add("causal", heed::causal());
    const std::vector<Index> some(static_cast<std::size_t>(n.b), n.s - n.s / 3);
    add("causal_lower_right, key_lengths", heed::causal_lower_right(), heed::key_lengths(some));

    std::mt19937 rng(8);
    const auto bias = random<T>(rng, n.h, n.t, n.s);
    const auto mask = random<bool>(rng, n.b, Index{1}, n.t, n.s);
    const std::vector<T> numbers(static_cast<std::size_t>(n.h), T(0.125));
    heed::Tensor<T, 3> lse(n.b, n.h, n.t);
    const auto far = [](Index, Index, Index i, Index j) { return (i + 3 * j) % 7 != 0; };
    const auto steeper = [](T score, Index, Index h, Index, Index) { return score * static_cast<T>(h + 1); };
    add("all modifiers", heed::scale(0.5), heed::bias(bias), heed::mask(mask), heed::mask_mod(far),
        heed::score_mod(steeper), heed::soft_cap(3), heed::alibi(numbers), heed::sinks(numbers),
        heed::sliding_window(n.s / 2, 40), heed::dropout(0.25, heed::Philox{1, 2}), heed::logsumexp(lse));
    heed::Tensor<T, 4> copied(n.b, n.h, n.t, Index{1});
    std::copy(lse.data(), lse.data() + lse.size(), copied.data());
    results.push_back({"log-sum-exp, " + to_string(n), std::move(copied)});
  }
  return results;
}

/// The names of the results that differ in a bit.
template <class T>
std::vector<std::string> differing(const std::vector<NamedResult<T>>& a, const std::vector<NamedResult<T>>& b) {
  if (a.size() != b.size()) return {"numbers of results"};
  std::vector<std::string> names;
  for (std::size_t n = 0; n < a.size(); ++n)
    if (!same_bits(a[n].out, b[n].out)) names.push_back(a[n].name);
  return names;
}

}  // namespace support
