// The cases of cases.txt as they stand there; export.py says what its lines mean.
#pragma once

#include <heed/core/shape.hpp>

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace onnx {

using heed::Index;

enum class Type { boolean, int64, float16, bfloat16, float32, float64 };

/// A tensor whose type and rank are known at run time. Every value of the suite is a double exactly.
struct Array {
  Type type;
  std::vector<Index> shape;
  std::vector<double> values;
};

/// Inputs or outputs by their formal names.
using Arrays = std::map<std::string, Array>;

struct Case {
  std::string name, op;
  int opset;
  double rtol, atol;
  std::map<std::string, std::string> attributes;
  Arrays inputs, outputs;
};

struct Suite {
  std::string onnx_version;
  std::vector<Case> cases;
};

/// Throws std::runtime_error with the number of the first line that is not as it should be.
Suite read_suite(std::istream& in);

/// A number among the attributes.
double number(const Case& c, const std::string& attribute, double otherwise);

/// Throws std::runtime_error if the case has anything that is not named here: it would be ignored.
struct Known {
  std::vector<std::string> attributes, inputs, outputs;
};
void expect_only(const Case& c, const Known& known);

}  // namespace onnx
