// Results do not depend on who computes which part, nor on what else happens at the same time.
#include "catch.hpp"
#include "support/threads.hpp"

#include <heed/attention/call_options.hpp>
#include <heed/core/workspace.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using Strings = std::vector<std::string>;
using Executor = std::function<void(heed::Index, heed::Task)>;

template <class T>
std::vector<support::NamedResult<T>> results(const Executor& executor, heed::Workspace& memory) {
  return support::results_at_sizes<T>(heed::on(executor), heed::workspace(memory));
}

}  // namespace

TEMPLATE_TEST_CASE("results are the same bits for any number of threads", "[attention][threads]", float, double) {
  heed::Workspace memory;
  const auto expected = results<TestType>(support::serially, memory);
  for (const int count : {1, 2, 3, 7}) {
    INFO(count << " threads");
    const support::Threads threads(count, static_cast<unsigned>(count));
    CHECK(support::differing(results<TestType>(std::ref(threads), memory), expected) == Strings{});
  }
}

TEMPLATE_TEST_CASE("calls from several threads at once give the bits of one alone", "[attention][threads]", float,
                   double) {
  heed::Workspace memory;  // for all
  const auto expected = results<TestType>(support::serially, memory);
  std::vector<Strings> differing(4);
  std::vector<std::thread> callers;
  for (std::size_t n = 0; n < differing.size(); ++n)
    callers.emplace_back([&, n] {
      const support::Threads threads(static_cast<int>(n), static_cast<unsigned>(n));  // 0: as 1
      differing[n] = support::differing(results<TestType>(std::ref(threads), memory), expected);
    });
  for (auto& caller : callers) caller.join();
  for (const Strings& names : differing) CHECK(names == Strings{});
}
