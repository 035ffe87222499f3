#include "suite.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace onnx {
namespace {

const std::map<std::string, Type> types{{"bool", Type::boolean},    {"int64", Type::int64},
                                        {"float16", Type::float16}, {"bfloat16", Type::bfloat16},
                                        {"float32", Type::float32}, {"float64", Type::float64}};

/// A decimal that stands for a value of `type`. Types narrower than float are written as the floats they equal.
double value_of(const std::string& word, Type type) {
  char* end = nullptr;
  const double value =
      type == Type::float64 ? std::strtod(word.c_str(), &end) : static_cast<double>(std::strtof(word.c_str(), &end));
  if (end == word.c_str() || *end != '\0') throw std::runtime_error("'" + word + "' is no number");
  return value;
}

class Reader {
 public:
  explicit Reader(std::istream& in) : in_(in) {}

  Suite read() {
    try {
      std::string line;
      while (next(line)) take(line);
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(line_number_) + ": " + error.what());
    }
    return suite_;
  }

 private:
  bool next(std::string& line) {
    ++line_number_;
    return static_cast<bool>(std::getline(in_, line));
  }

  template <class... Words>
  static void split(std::istringstream& line, Words&... words) {
    if (!(line >> ... >> words)) throw std::runtime_error("a word is missing");
  }

  void take(const std::string& text) {
    std::istringstream line(text);
    std::string kind;
    split(line, kind);
    if (kind == "onnx") {
      split(line, suite_.onnx_version);
    } else if (kind == "tensor") {
      take_tensor(line);
    } else if (kind == "case") {
      Case c{};
      split(line, c.name, c.op, c.opset, c.rtol, c.atol);
      suite_.cases.push_back(c);
    } else if (kind == "attribute") {
      std::string name;
      split(line, name);
      std::getline(line >> std::ws, last().attributes[name]);
    } else if (kind == "input" || kind == "output") {
      std::string name;
      std::size_t tensor = 0;
      split(line, name, tensor);
      (kind == "input" ? last().inputs : last().outputs)[name] = tensors_.at(tensor);
    } else {
      throw std::runtime_error("'" + kind + "' begins no line");
    }
  }

  void take_tensor(std::istringstream& line) {
    std::size_t number = 0;
    std::string type;
    split(line, number, type);
    if (number != tensors_.size()) throw std::runtime_error("tensors are numbered in order");
    Array array{types.at(type), {}, {}};
    std::size_t count = 1;
    for (Index size = 0; line >> size; count *= static_cast<std::size_t>(size)) array.shape.push_back(size);
    if (!line.eof()) throw std::runtime_error("a size is no number");
    for (std::string row; array.values.size() < count;) {
      if (!next(row)) throw std::runtime_error("the values end early");
      std::istringstream words(row);
      for (std::string word; words >> word;) array.values.push_back(value_of(word, array.type));
    }
    if (array.values.size() > count) throw std::runtime_error("there are too many values");
    tensors_.push_back(array);
  }

  Case& last() {
    if (suite_.cases.empty()) throw std::runtime_error("there is no case yet");
    return suite_.cases.back();
  }

  std::istream& in_;
  std::size_t line_number_ = 0;
  std::vector<Array> tensors_;
  Suite suite_;
};

template <class Value>
void expect_names(const char* kind, const std::map<std::string, Value>& given, const std::vector<std::string>& known) {
  for (const auto& entry : given)
    if (std::find(known.begin(), known.end(), entry.first) == known.end())
      throw std::runtime_error(std::string(kind) + " " + entry.first + " is not known here");
}

}  // namespace

Suite read_suite(std::istream& in) { return Reader(in).read(); }

double number(const Case& c, const std::string& attribute, double otherwise) {
  const auto found = c.attributes.find(attribute);
  return found == c.attributes.end() ? otherwise : value_of(found->second, Type::float32);
}

void expect_only(const Case& c, const Known& known) {
  expect_names("attribute", c.attributes, known.attributes);
  expect_names("input", c.inputs, known.inputs);
  expect_names("output", c.outputs, known.outputs);
}

}  // namespace onnx
