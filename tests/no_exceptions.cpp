// heed in a program built with -fno-exceptions -fno-rtti: an error goes to the handler, and where that returns the
// message goes to stderr and the program aborts. Exits with 0 if all of that happened.
#include <heed/heed.hpp>

#include <csignal>
#include <cstdlib>
#include <cstring>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#error "compile this with -fno-exceptions"
#endif

namespace {

const char* const expected = "heed::MultiHeadAttention: x is ℝ^{2×6×3}, but its last size must be d_in = 4";
volatile std::sig_atomic_t calls = 0;

void unused(const char*) { std::_Exit(2); }

void returning(const char* message) { calls = std::strcmp(message, expected) == 0 ? calls + 1 : 100; }

void on_abort(int) { std::_Exit(calls == 1 ? 0 : 3); }

}  // namespace

int main() {
  const heed::Tensor<float, 3> x(2, 6, 3);
  if (heed::set_error_handler(unused) != nullptr) return 4;
  if (heed::set_error_handler(returning) != unused) return 5;
  std::signal(SIGABRT, on_abort);
  heed::Generator rng(1);
  const heed::MultiHeadAttention attention({.d_in = 4, .d_out = 2, .context_length = 6}, rng);
  attention(x, rng, heed::key_lengths({6, 4}));
  return 6;  // the call came back
}
