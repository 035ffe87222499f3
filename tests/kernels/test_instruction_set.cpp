#include "catch.hpp"

#include <heed/kernels/instruction_set.hpp>

#include <cstdlib>
#include <string>

TEST_CASE("the instruction set is the best there is, or what HEED_ISA lowers it to", "[kernels][instruction_set]") {
  const auto best = heed::detail::detected_instruction_set();
  CHECK(heed::instruction_set() <= best);
  const char* const wanted = std::getenv("HEED_ISA");
  if (wanted == nullptr) {
    CHECK(heed::instruction_set() == best);
  } else if (std::string(wanted) == "baseline") {
    CHECK(heed::instruction_set() == heed::InstructionSet::baseline);
  } else if (std::string(wanted) == "avx2") {
    CHECK(heed::instruction_set() <= heed::InstructionSet::avx2);
  }
}
