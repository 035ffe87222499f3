#pragma once

#include <heed/core/config.hpp>
#include <heed/core/error.hpp>

#include <cstdlib>
#include <cstring>

/// Whether this compiler can compile the kernels for AVX2 and AVX-512 whatever its flags.
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define HEED_HAS_X86_REGIONS 1
#else
#define HEED_HAS_X86_REGIONS 0
#endif

namespace heed {

/// What the kernels may use: chosen once, when the program runs. `baseline` is what the compiler's flags allow.
enum class InstructionSet { baseline, avx2, avx512 };

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// The best that this processor and its operating system have.
inline InstructionSet detected_instruction_set() {
#if HEED_HAS_X86_REGIONS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return InstructionSet::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

/// The environment variable HEED_ISA (baseline, avx2 or avx512) lowers the choice; it never raises it.
inline InstructionSet chosen_instruction_set() {
  const InstructionSet best = detected_instruction_set();
  const char* const wanted = std::getenv("HEED_ISA");
  if (wanted == nullptr) return best;
  const auto is = [&](const char* name) { return std::strcmp(wanted, name) == 0; };
  if (!is("baseline") && !is("avx2") && !is("avx512"))
    fail_value({"heed: the environment variable HEED_ISA is '", wanted, "', but must be baseline, avx2 or avx512"});
  const InstructionSet limit = is("baseline") ? InstructionSet::baseline
                               : is("avx2")   ? InstructionSet::avx2
                                              : InstructionSet::avx512;
  return limit < best ? limit : best;
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// The instruction set that the kernels use in this program: the best that the processor has, or less if the
/// environment variable HEED_ISA says so (baseline, avx2 or avx512; anything else is a std::invalid_argument).
inline InstructionSet instruction_set() {
  static const InstructionSet chosen = detail::chosen_instruction_set();
  return chosen;
}

}  // namespace heed
