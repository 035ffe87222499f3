#include "catch.hpp"

#include <heed/core/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using heed::Index;

namespace {

std::atomic<int> loops{0};

/// Backwards, from two threads.
void from_two_threads(Index count, heed::Task task) {
  ++loops;
  std::atomic<Index> left{count};
  const auto work = [&] {
    for (Index n; (n = --left) >= 0;) task(n);
  };
  std::thread other(work);
  work();
  other.join();
}

std::vector<int> visits(Index count) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  heed::detail::parallel_for(count, [&](Index n) { ++seen[static_cast<std::size_t>(n)]; });
  return {seen.begin(), seen.end()};
}

bool all_once(const std::vector<int>& seen) {
  return std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; });
}

}  // namespace

TEST_CASE("a parallel loop calls its function once for each index", "[core][parallel]") {
  for (const Index count : {0, 1, 2, 7, 100}) CHECK(all_once(visits(count)));
}

TEST_CASE("parallel loops go through the executor that is set", "[core][parallel]") {
  CHECK(heed::set_executor(from_two_threads) == nullptr);
  loops = 0;
  CHECK(all_once(visits(100)));
  CHECK(loops == 1);
  CHECK(heed::set_executor(nullptr) == from_two_threads);
  CHECK(all_once(visits(100)));
  CHECK(loops == 1);
}

TEST_CASE("the first exception of a parallel loop comes out of it", "[core][parallel]") {
  for (const heed::Executor executor : {heed::Executor(nullptr), heed::Executor(from_two_threads)}) {
    heed::set_executor(executor);
    std::atomic<int> done{0};
    const auto loop = [&](Index count) {
      done = 0;
      try {
        heed::detail::parallel_for(count, [&](Index n) {
          if (n % 10 == 3) throw std::runtime_error(std::to_string(n));
          ++done;
        });
        return std::string("nothing");
      } catch (const std::runtime_error& error) {
        return std::string(error.what());
      }
    };
    CHECK(loop(3) == "nothing");
    CHECK(done == 3);
    CHECK(loop(4) == "3");
    const std::string thrown = loop(1000);  // by any part that throws
    CHECK(thrown.back() == '3');
    CHECK(done < 1000 - 100);  // most parts were skipped
    CHECK(loop(3) == "nothing");
    heed::set_executor(nullptr);
  }
}

TEST_CASE("a parallel loop of one part runs on the calling thread, and its exception passes", "[core][parallel]") {
  heed::set_executor(from_two_threads);
  std::thread::id where;
  heed::detail::parallel_for(1, [&](Index) { where = std::this_thread::get_id(); });
  CHECK(where == std::this_thread::get_id());
  CHECK_THROWS_AS(heed::detail::parallel_for(1, [](Index) { throw 1; }), int);
  heed::set_executor(nullptr);
}

TEST_CASE("a parallel loop may run inside another", "[core][parallel]") {
  for (const heed::Executor executor : {heed::Executor(nullptr), heed::Executor(from_two_threads)}) {
    heed::set_executor(executor);
    std::vector<std::atomic<int>> seen(35);
    const auto inner = [&](Index a) {
      heed::detail::parallel_for(7, [&](Index b) { ++seen[static_cast<std::size_t>(a * 7 + b)]; });
    };
    heed::detail::parallel_for(5, inner);
    CHECK(all_once({seen.begin(), seen.end()}));
    const auto throwing = [&](Index) { heed::detail::parallel_for(7, [](Index) { throw 1; }); };
    CHECK_THROWS_AS(heed::detail::parallel_for(5, throwing), int);
    heed::set_executor(nullptr);
  }
}
