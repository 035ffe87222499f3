#include "catch.hpp"

#include <heed/core/workspace.hpp>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

TEST_CASE("a workspace lends aligned memory and keeps what comes back", "[core][workspace]") {
  heed::Workspace workspace;
  CHECK(workspace.size() == 0);
  const float* first = nullptr;
  {
    auto loan = workspace.room<float>(100);
    first = loan.data();
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    for (int n = 0; n < 100; ++n) loan.data()[n] = 1;
    CHECK(workspace.size() == 0);
  }
  CHECK(workspace.size() == 400);
  CHECK(workspace.room<float>(10).data() == first);
  CHECK(static_cast<void*>(workspace.room<double>(50).data()) == first);
  CHECK(workspace.size() == 400);
  {
    auto larger = workspace.room<double>(1000);
    for (int n = 0; n < 1000; ++n) larger.data()[n] = 1;
  }
  CHECK(workspace.size() == 8000);
  workspace.release();
  CHECK(workspace.size() == 0);
}

TEST_CASE("two loans of a workspace lie apart, and the smallest block that fits is lent", "[core][workspace]") {
  heed::Workspace workspace;
  const void *small = nullptr, *large = nullptr;
  {
    auto a = workspace.room<float>(100);
    auto b = workspace.room<float>(1000);
    CHECK(a.data() != b.data());
    small = a.data();
    large = b.data();
  }
  CHECK(workspace.size() == 4400);
  CHECK(workspace.room<float>(50).data() == small);
  CHECK(workspace.room<float>(101).data() == large);
  CHECK(workspace.size() == 4400);
}

TEST_CASE("a loan that has moved goes back once, and an empty one is none", "[core][workspace]") {
  heed::Workspace workspace;
  {
    auto first = workspace.room<double>(8);
    auto second = std::move(first);
    CHECK(second.data() != nullptr);
    CHECK(workspace.room<double>(0).data() == nullptr);
  }
  CHECK(workspace.size() == 64);
}

TEST_CASE("blocks that come back in any order are lent by size", "[core][workspace]") {
  heed::Workspace workspace;
  std::vector<heed::Workspace::Loan<float>> loans;
  const heed::Index sizes[] = {300, 100, 400, 200, 200};
  for (const heed::Index size : sizes) loans.push_back(workspace.room<float>(size));
  std::vector<const float*> blocks;
  for (auto& loan : loans) blocks.push_back(loan.data());
  while (!loans.empty()) loans.pop_back();
  CHECK(workspace.size() == 4 * 1200);
  CHECK(workspace.room<float>(1).data() == blocks[1]);
  CHECK(workspace.room<float>(250).data() == blocks[0]);
  auto largest = workspace.room<float>(301);
  CHECK(largest.data() == blocks[2]);
  workspace.release();  // what is on loan stays
  CHECK(workspace.size() == 0);
  largest.data()[399] = 1;
}

TEST_CASE("threads that take from one workspace at once get memory of their own", "[core][workspace]") {
  heed::Workspace workspace;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < 200; ++n) {
        const heed::Index count = 1 + (n * 37 + t * 11) % 100;
        auto loan = workspace.room<int>(count);
        for (heed::Index i = 0; i < count; ++i) loan.data()[i] = t;
        for (heed::Index i = 0; i < count; ++i) wrong += loan.data()[i] != t;
        if (n % 50 == 0) workspace.release();
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(workspace.size() <= 4 * 400);
}

TEST_CASE("each thread has a workspace of its own, which it may give back", "[core][workspace]") {
  { auto loan = heed::detail::thread_workspace().room<float>(10); }
  const heed::Workspace* other = nullptr;
  std::thread([&] { other = &heed::detail::thread_workspace(); }).join();
  CHECK(other != &heed::detail::thread_workspace());
  heed::release_workspace();
  CHECK(heed::detail::thread_workspace().size() == 0);
}
