// Attention in a program compiled with OpenMP: its threads share the work, and nothing else changes.
#include "support/report.hpp"
#include "support/threads.hpp"

#include <omp.h>

#include <atomic>
#include <new>
#include <string>

#ifndef _OPENMP
#error "compile this with OpenMP"
#endif

namespace {

using support::expect;

template <class T>
void same_bits_for_any_number_of_threads(const char* type) {
  omp_set_num_threads(1);
  const auto expected = support::results_at_sizes<T>();
  for (const int count : {1, 2, 3, 7}) {
    omp_set_num_threads(count);
    support::expect_none(support::differing(support::results_at_sizes<T>(), expected),
                         std::string(type) + ", other bits with threads: " + std::to_string(count));
  }
  // In a parallel region of the caller's.
  std::atomic<int> different{0};
#pragma omp parallel for schedule(dynamic)
  for (int n = 0; n < 6; ++n)
    if (!support::differing(support::results_at_sizes<T>(), expected).empty()) ++different;
  expect(different == 0, std::string(type) + ", the same bits inside a parallel region");
}

/// How many threads the loop of one call has.
int threads_of_a_call(const support::Inputs<float>& x) {
  std::atomic<int> most{0};
  const auto ask = [&](heed::Index, heed::Index, heed::Index, heed::Index) {
    most = omp_get_num_threads();
    return true;
  };
  heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::mask_mod(ask));
  return most;
}

}  // namespace

int main() {
  same_bits_for_any_number_of_threads<float>("float");
  same_bits_for_any_number_of_threads<double>("double");

  const auto x = support::random_inputs<float>({2, 8, 8, 40, 140, 4, 4});
  omp_set_num_threads(3);
  expect(threads_of_a_call(x) == 3, "OpenMP shares the work");
  const heed::Executor before = heed::set_executor(support::serially);
  expect(threads_of_a_call(x) == 1, "an executor that is set takes OpenMP's place");
  heed::set_executor(before);

  bool caught = false;
  const auto out_of_memory = [](float score, heed::Index, heed::Index h, heed::Index, heed::Index) {
    if (h == 5) throw std::bad_alloc();
    return score;
  };
  try {
    heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::score_mod(out_of_memory));
  } catch (const std::bad_alloc&) {
    caught = true;
  }
  expect(caught, "an exception of a part comes out of the call");
  return support::verdict();
}
