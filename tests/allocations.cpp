// Counts every allocation of the program and proves that scaled_dot_product_attention_into makes none once it has seen
// the sizes, that release gives everything back, and that running out of memory leaks nothing. Left out is what the
// reference computes and the README says allocates: scores, final_scores, weights and dropout by a Generator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEED_TEST_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEED_TEST_SANITIZER 1
#endif
#endif

#if defined(HEED_TEST_SANITIZER)
#include <cstdio>
int main() {
  std::puts("skipped: the sanitizer has an allocator of its own");
  return 77;
}
#else

#include "support/attention.hpp"
#include "support/report.hpp"

#include <heed/attention/call_options.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

std::atomic<long> allocations{0};    // since the start
std::atomic<long> living{0};         // allocated and not freed
std::atomic<long> until_failure{0};  // the how manieth allocation from now fails; 0 is none

bool fails() { return until_failure > 0 && --until_failure == 0; }

void* counted(void* memory) {
  ++allocations;
  if (memory != nullptr) ++living;
  return memory;
}

}  // namespace

// Takes the place of the C library's allocator in the whole program; operator new stands on it.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);

void* malloc(std::size_t size) noexcept { return counted(fails() ? nullptr : __libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) noexcept {
  return counted(fails() ? nullptr : __libc_calloc(count, size));
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  return counted(fails() ? nullptr : __libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept { return memalign(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  *memory = memalign(alignment, size);
  return *memory != nullptr || size == 0 ? 0 : ENOMEM;
}
void* realloc(void* memory, std::size_t size) noexcept {
  if (memory == nullptr) return malloc(size);
  ++allocations;
  if (fails()) return nullptr;
  if (size == 0) --living;
  return __libc_realloc(memory, size);
}
void free(void* memory) noexcept {
  if (memory != nullptr) --living;
  __libc_free(memory);
}
}

namespace {

using heed::Index;
using heed::Tensor;
using support::expect;
using support::Sizes;

template <class Call>
long allocations_of(const Call& call) {
  const long before = allocations;
  call();
  return allocations - before;
}

/// So that no compiler leaves an allocation out.
void* volatile kept;

void the_counter_counts() {
  const auto counts = [](const char* what, const auto& call) {
    const long before = living;
    const long made = allocations_of(call);
    const long left = living - before;  // messages allocate
    expect(made > 0, std::string("counted: ") + what);
    expect(left == 0, std::string("freed: ") + what);
  };
  counts("malloc", [] {
    kept = std::malloc(10);
    std::free(kept);
  });
  counts("calloc", [] {
    kept = std::calloc(10, 10);
    std::free(kept);
  });
  counts("realloc", [] {
    kept = std::realloc(nullptr, 10);
    kept = std::realloc(kept, 1000);
    std::free(kept);
  });
  counts("aligned_alloc", [] {
    kept = std::aligned_alloc(64, 64);
    std::free(kept);
  });
  counts("posix_memalign", [] {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, 64) == 0) kept = memory;
    std::free(kept);
  });
  counts("new", [] {
    int* const memory = new int(1);
    kept = memory;
    delete memory;
  });
  counts("aligned new", [] {
    struct alignas(128) Wide {
      char bytes[128];
    };
    Wide* const memory = new Wide;
    kept = memory;
    delete memory;
  });
  counts("a vector", [] {
    std::vector<int> numbers(10);
    kept = numbers.data();
  });
  counts("an Eigen matrix", [] {
    Eigen::MatrixXf matrix(10, 10);
    kept = matrix.data();
  });
  counts("a Tensor", [] {
    Tensor<float, 1> numbers(10);
    kept = numbers.data();
  });
}

/// The call allocates at most the first time, and in `memory` alone. Small problems may need none.
template <class Call>
void allocates_once(const std::string& what, bool is_small, heed::Workspace& memory, const Call& call) {
  memory.release();
  const long living_before = living;
  const long first = allocations_of(call);
  expect(is_small || first > 0, "the first call allocates: " + what);
  for (int repeat = 0; repeat < 3; ++repeat) expect(allocations_of(call) == 0, "no allocation once warm: " + what);
  expect(is_small || memory.size() > 0, "memory is kept: " + what);
  memory.release();
  const long left = living - living_before;
  expect(memory.size() == 0 && left == 0, "memory is given back: " + what);
}

template <class T>
void every_modifier(const Sizes& n) {
  const auto x = support::random_inputs<T>(n);
  std::mt19937 rng(2);
  const auto bias = support::random<T>(rng, n.h, n.t, n.s);
  const auto mask = support::random<bool>(rng, n.t, n.s);
  const std::vector<Index> lengths(static_cast<std::size_t>(n.b), n.s - n.s / 3);
  const std::vector<T> numbers(static_cast<std::size_t>(n.h), T(0.25));
  const auto is_near = [](Index, Index, Index i, Index j) { return (i - j) % 5 != 1; };
  const auto steeper = [](T score, Index, Index h, Index, Index) { return score * static_cast<T>(h + 1); };
  const heed::Philox philox{3, 4};
  Tensor<T, 3> lse(n.b, n.h, n.t);
  Tensor<T, 4> out(n.b, n.h, n.t, n.e);
  const bool is_small = n.t < 100;
  const auto check = [&](const char* name, const auto&... modifiers) {
    allocates_once(std::string(name) + ", " + to_string(n), is_small, heed::detail::thread_workspace(),
                   [&] { heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, modifiers...); });
  };
  heed::Workspace memory;
  const auto check_given = [&](const char* name, const auto&... options) {
    allocates_once(std::string("workspace given, ") + name + ", " + to_string(n), is_small, memory, [&] {
      heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, heed::workspace(memory), options...);
    });
  };
  const auto backwards = [](Index count, heed::Task task) {
    while (count-- > 0) task(count);
  };

  check("plain");
  if constexpr (std::is_same_v<T, float>) {  // in double, all together
    check("scale", heed::scale(0.5));
    check("causal", heed::causal());
    check("causal_lower_right", heed::causal_lower_right());
    check("sliding_window", heed::sliding_window(20, 3));
    check("key_lengths", heed::key_lengths(lengths));
    check("mask", heed::mask(mask));
    check("mask_mod", heed::mask_mod(is_near));
    check("bias", heed::bias(bias));
    check("soft_cap", heed::soft_cap(2));
    check("alibi", heed::alibi(numbers));
    check("score_mod", heed::score_mod(steeper));
    check("sinks", heed::sinks(numbers));
    check("dropout", heed::dropout(0.25, philox));
    check("logsumexp", heed::logsumexp(lse));
    check("on", heed::on(backwards));
  }
  const auto all = [&](const auto& use, const auto&... options) {
    use("all", options..., heed::scale(0.5), heed::causal_lower_right(), heed::sliding_window(20, 3),
        heed::key_lengths(lengths), heed::mask(mask), heed::mask_mod(is_near), heed::bias(bias), heed::soft_cap(2),
        heed::alibi(numbers), heed::score_mod(steeper), heed::sinks(numbers), heed::dropout(0.25, philox),
        heed::logsumexp(lse));
  };
  all(check);
  check_given("plain");
  check_given("causal", heed::causal());
  all(check_given, heed::on(backwards));
}

template <class T>
void every_layout(const Sizes& n) {
  const auto x = support::random_inputs<T>(n);
  const Tensor<T, 4> zeros(n.b, n.h, n.t, n.e);
  auto& memory = heed::detail::thread_workspace();
  int number = 0;
  for (const auto& layout : support::layouts) {
    support::LaidOut<T, 4> q(x.q, layout), k(x.k, layout), v(x.v, layout), out(zeros, layout);
    allocates_once("layout " + std::to_string(number++) + ", " + to_string(n), false, memory,
                   [&] { heed::scaled_dot_product_attention_into(out.view(), q.view(), k.view(), v.view()); });
  }
  Tensor<T, 3> out_3(n.h, n.t, n.e);
  allocates_once("rank 3", false, memory,
                 [&] { heed::scaled_dot_product_attention_into(out_3, x.q[0], x.k[0], x.v[0], heed::causal()); });
  Tensor<T, 2> out_2(n.t, n.e);
  allocates_once("rank 2", false, memory, [&] {
    heed::scaled_dot_product_attention_into(out_2, x.q[0][0], x.k[0][0], x.v[0][0], heed::causal());
  });
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix q = x.q[0][0].matrix(), k = x.k[0][0].matrix(), v = x.v[0][0].matrix();
  Matrix out(n.t, n.e);
  allocates_once("Eigen matrices", false, memory,
                 [&] { heed::scaled_dot_product_attention_into(out, q, k, v.leftCols(n.e), heed::causal()); });
}

/// Every allocation of a first call fails once.
void out_of_memory() {
  const auto x = support::random_inputs<float>({2, 4, 2, 197, 197, 8, 8});
  Tensor<float, 4> out(2, 4, 197, 8);
  heed::Workspace memory;
  const auto call = [&] { heed::scaled_dot_product_attention_into(out, x.q, x.k, x.v, heed::workspace(memory)); };
  const long needed = allocations_of(call);
  memory.release();
  const long living_before = living;
  for (long n = 1; n <= needed; ++n) {
    bool caught = false;
    until_failure = n;
    try {
      call();
    } catch (const std::bad_alloc&) {
      caught = true;
    }
    until_failure = 0;
    call();  // the workspace is still good
    memory.release();
    const long left = living - living_before;
    expect(caught, "std::bad_alloc, allocation " + std::to_string(n));
    expect(left == 0, "nothing leaks, allocation " + std::to_string(n));
  }
}

}  // namespace

int main() {
  heed::release_workspace();  // the thread's workspace is there from now on
  the_counter_counts();
  const Sizes sizes[] = {
      {1, 2, 2, 6, 6, 3, 2}, {2, 4, 2, 197, 197, 16, 12}, {1, 2, 1, 1100, 1100, 8, 8}, {2, 4, 2, 1, 1100, 8, 8}};
  for (const Sizes& n : sizes) {
    every_modifier<float>(n);
    every_modifier<double>(n);
  }
  every_layout<float>({2, 4, 2, 197, 130, 16, 12});
  every_layout<double>({2, 4, 2, 197, 130, 16, 12});
  out_of_memory();
  return support::verdict();
}

#endif
