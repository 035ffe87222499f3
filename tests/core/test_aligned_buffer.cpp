#include <heed/core/aligned_buffer.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using heed::Index;
using heed::detail::AlignedBuffer;

TEMPLATE_TEST_CASE("a buffer starts on a cache line whatever its size", "[core][aligned_buffer]", float, double, bool) {
  std::vector<AlignedBuffer<TestType>> buffers;
  for (Index size = 1; size <= 200; ++size) buffers.emplace_back(size);
  for (const auto& buffer : buffers) CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
}

TEMPLATE_TEST_CASE("a buffer is zero even in memory used before", "[core][aligned_buffer]", float, double, bool) {
  const Index size = 1000;
  const auto bytes = static_cast<std::size_t>(size) * sizeof(TestType);
  for (int round = 0; round < 5; ++round) {
    AlignedBuffer<TestType> buffer(size);
    const auto* memory = reinterpret_cast<const unsigned char*>(buffer.data());
    CHECK(std::all_of(memory, memory + bytes, [](unsigned char byte) { return byte == 0; }));
    std::memset(static_cast<void*>(buffer.data()), 0xff, bytes);
  }
}

TEMPLATE_TEST_CASE("a copy of a buffer has memory of its own", "[core][aligned_buffer]", float, double) {
  AlignedBuffer<TestType> buffer(3);
  std::fill_n(buffer.data(), 3, TestType(7));
  AlignedBuffer<TestType> copied(buffer);
  AlignedBuffer<TestType> assigned(8);
  assigned = buffer;
  for (AlignedBuffer<TestType>* other : {&copied, &assigned}) {
    REQUIRE(other->size() == 3);
    CHECK(other->data() != buffer.data());
    CHECK(std::count(other->data(), other->data() + 3, TestType(7)) == 3);
    other->data()[0] = 1;
    CHECK(buffer.data()[0] == 7);
  }
}

TEST_CASE("assigning a buffer to itself changes nothing", "[core][aligned_buffer]") {
  AlignedBuffer<float> buffer(3);
  buffer.data()[2] = 7;
  const AlignedBuffer<float>& same = buffer;
  buffer = same;
  REQUIRE(buffer.size() == 3);
  CHECK(buffer.data()[2] == 7);
}

TEST_CASE("moving a buffer takes its memory along and leaves it empty", "[core][aligned_buffer]") {
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<AlignedBuffer<float>>);
  AlignedBuffer<float> first(3);
  const float* const memory = first.data();
  AlignedBuffer<float> second(std::move(first));
  CHECK(second.data() == memory);
  CHECK(second.size() == 3);
  CHECK(first.data() == nullptr);
  CHECK(first.size() == 0);
  first = std::move(second);
  CHECK(first.data() == memory);
  CHECK(second.size() == 0);
}

TEST_CASE("an empty buffer has no memory", "[core][aligned_buffer]") {
  AlignedBuffer<float> empty(0);
  CHECK(empty.data() == nullptr);
  CHECK(empty.size() == 0);
  AlignedBuffer<float> copied(empty);
  CHECK(copied.size() == 0);
  CHECK(AlignedBuffer<float>().size() == 0);
}

TEST_CASE("more bytes than a pointer can span are refused", "[core][aligned_buffer]") {
  // 2^61 floats are 2^63 bytes: countable elements, uncountable bytes. Volatile, or GCC warns of the sizes it can see.
  const volatile Index too_many = Index{1} << 61;
  const volatile Index most = std::numeric_limits<Index>::max();
  const auto message = core_tests::shape_error([&] { AlignedBuffer<float>{too_many}; });
  CHECK(message == "heed::Tensor: 2305843009213693952 elements do not fit into memory");
  CHECK_THROWS_AS(AlignedBuffer<double>{most}, heed::ShapeError);
}
