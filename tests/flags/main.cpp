// Two files that use heed, compiled with different flags, in one program: the same results but for rounding, and one of
// each thing of which a program has one. Prints what is wrong.
#include "attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

heed::Index loops = 0;
void count_and_run(heed::Index count, heed::Task task) {
  ++loops;
  for (heed::Index index = 0; index < count; ++index) task(index);
}

void handle(const char*) {}

std::string message(void (*refuse)(const heed::TensorView<const float, 3>&), const heed::Tensor<float, 3>& x) {
  try {
    refuse(x);
  } catch (const heed::ShapeError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

int main() {
  heed::Generator rng(123);
  const heed::Tensor<float, 3> x = heed::rand<float>(rng, 2, 70, 32);
  heed::Generator rng_of_first(1), rng_of_second(1);

  expect(first::replace_executor(count_and_run) == nullptr, "no executor to begin with");
  const heed::Tensor<double, 1> a = first::results(x, rng_of_first);
  const heed::Index loops_of_first = loops;
  const heed::Tensor<double, 1> b = second::results(x, rng_of_second);
  expect(loops_of_first > 0, "the first file uses the executor");
  expect(loops == 2 * loops_of_first, "the second file uses the first one's executor");
  expect(second::replace_executor(nullptr) == count_and_run, "the second file sees the first one's executor");

  expect(a.size() > 10000 && a.shape() == b.shape(), "as many results");
  double worst = 0;
  for (heed::Index i = 0; i < (std::min)(a.size(), b.size()); ++i)
    worst = (std::max)(worst, std::isfinite(a(i)) ? std::abs(a(i) - b(i)) : a(i) == b(i) ? 0.0 : HUGE_VAL);
  expect(worst < 1e-5, "the same results but for rounding");
  expect(rng_of_first.random() == rng_of_second.random(), "as many numbers drawn");

  expect(&first::workspace() == &second::workspace(), "one workspace for each thread");
  expect(first::workspace().size() > 0, "a workspace that was used");
  heed::release_workspace();
  expect(second::workspace().size() == 0, "one workspace, released");

  const std::string refusal = message(first::refuse, x);
  expect(refusal.find("ℝ^{2×70×32}") != std::string::npos, "an error thrown in the first file is caught here");
  expect(refusal == message(second::refuse, x), "an error thrown in the second file is caught here");
  first::replace_handler(handle);
  expect(second::replace_handler(nullptr) == handle, "one error handler");

  std::printf("%td results, at most %.2g apart\n", a.size(), worst);
  return failures;
}
