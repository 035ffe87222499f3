// Runs the ONNX operator tests through heed and prints a table: heed_onnx_conformance cases.txt
#include "compare.hpp"
#include "operators.hpp"
#include "suite.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace {

struct Operator {
  onnx::Arrays (*run)(const onnx::Case&);
  int expected;
  int cases = 0;
  int passed = 0;
};

/// The largest difference over all outputs; throws where there is none to compare.
onnx::Difference run(const Operator& op, const onnx::Case& c) {
  const onnx::Arrays actual = op.run(c);
  onnx::Difference worst;
  if (c.outputs.empty()) throw std::runtime_error("it has no output");
  for (const auto& [name, expected] : c.outputs) {
    const auto found = actual.find(name);
    if (found == actual.end()) throw std::runtime_error("no " + name);
    const onnx::Difference difference = onnx::compare(expected, found->second, c.rtol, c.atol);
    worst.largest = std::max(worst.largest, difference.largest);
    worst.of_tolerance = std::max(worst.of_tolerance, difference.of_tolerance);
  }
  return worst;
}

bool passes(const Operator& op, const onnx::Case& c) {
  std::printf("%-72s %5d  ", c.name.c_str(), c.opset);
  try {
    const onnx::Difference difference = run(op, c);
    std::printf("%-6s  %9.2e  %8.2f %%\n", difference.passes() ? "passed" : "FAILED", difference.largest,
                100 * difference.of_tolerance);
    return difference.passes();
  } catch (const std::exception& error) {
    std::printf("FAILED  %s\n", error.what());
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  if (!file) {
    std::fprintf(stderr, "usage: heed_onnx_conformance cases.txt\n");
    return 2;
  }
  onnx::Suite suite;
  try {
    suite = onnx::read_suite(file);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 2;
  }

  // The counts are those of onnx 1.23; a file with fewer cases is not a pass.
  std::map<std::string, Operator> operators{{"Attention", {onnx::attention, 93}},
                                            {"FlexAttention", {onnx::flex_attention, 11}}};
  std::printf("ONNX operator tests of onnx %s\n\n", suite.onnx_version.c_str());
  std::printf("%-72s %5s  %-6s  %9s  %10s\n", "case", "opset", "result", "error", "of allowed");
  bool all = true;
  for (const onnx::Case& c : suite.cases) {
    const auto op = operators.find(c.op);
    if (op == operators.end()) {
      std::printf("%-72s FAILED  no operator %s\n", c.name.c_str(), c.op.c_str());
      all = false;
      continue;
    }
    ++op->second.cases;
    op->second.passed += passes(op->second, c) ? 1 : 0;
  }

  std::printf("\n");
  const char* separator = "";
  for (const auto& [name, op] : operators) {
    std::printf("%s%s %d of %d", separator, name.c_str(), op.passed, op.expected);
    separator = ", ";
    all = all && op.cases == op.expected && op.passed == op.expected;
  }
  std::printf("\n");
  return all ? 0 : 1;
}
