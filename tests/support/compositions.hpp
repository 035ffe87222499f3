// Reads the cases of tests/fixtures/compositions.txt, which says what each line means, and draws their inputs.
#pragma once

#include "support/tensors.hpp"
#include "support/user_functions.hpp"

#include <heed/attention/modifiers.hpp>
#include <heed/core/generator.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace support {

/// One line: a name and words, of which some are numbers.
class Line {
 public:
  explicit Line(const std::string& text) {
    std::istringstream stream(text);
    stream >> name_;
    for (std::string word; stream >> word;) words_.push_back(word);
  }

  const std::string& name() const { return name_; }
  const std::vector<std::string>& words() const { return words_; }

  /// The numbers that the line begins with, or those after a word of it; none if it does not have the word.
  std::vector<double> numbers() const { return numbers_from(words_.begin()); }
  std::vector<double> numbers(const std::string& word) const {
    const auto at = std::find(words_.begin(), words_.end(), word);
    return at == words_.end() ? std::vector<double>{} : numbers_from(at + 1);
  }
  std::vector<Index> indices() const { return as_indices(numbers()); }
  std::vector<Index> indices(const std::string& word) const { return as_indices(numbers(word)); }

 private:
  static std::vector<double> numbers_from(std::vector<std::string>::const_iterator word,
                                          const std::vector<std::string>::const_iterator& end) {
    std::vector<double> values;
    for (; word != end && (*word)[0] < 'a'; ++word) values.push_back(std::stod(*word));  // −inf begins with a minus
    return values;
  }
  std::vector<double> numbers_from(const std::vector<std::string>::const_iterator& word) const {
    return numbers_from(word, words_.end());
  }
  static std::vector<Index> as_indices(const std::vector<double>& values) {
    std::vector<Index> indices;
    for (const double value : values) indices.push_back(static_cast<Index>(value));
    return indices;
  }

  std::string name_;
  std::vector<std::string> words_;
};

struct CompositionCase {
  std::string name;
  std::size_t composition;  // of compositions.hpp
  std::vector<Line> lines;
};

inline std::vector<CompositionCase> read_composition_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<CompositionCase> cases;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text[0] == '#') continue;
    if (text.starts_with("case ")) {
      cases.push_back({text, static_cast<std::size_t>(std::stoul(text.substr(5))), {}});
    } else {
      cases.back().lines.emplace_back(text);
    }
  }
  return cases;
}

/// Results of a case, and how far from them a computation may be, in units of the roundoff of its type.
struct ExpectedResults {
  bool folded;
  std::vector<double> out, lse;
  double out_off, lse_off;
};

/// A number in [−2, 2) that a float holds exactly.
inline double grid(double u) { return (std::floor(u * 4096) - 2048) / 1024; }

struct Window {
  Index left, right;
};

/// The inputs of a case and, read one after the other, what its modifiers take.
template <class T, int R>
class CaseArguments {
 public:
  explicit CaseArguments(const CompositionCase& c)
      : case_(c),
        rng_(static_cast<std::uint64_t>(next("seed").numbers().at(0))),
        sizes_(next("sizes").indices()),
        q_(like_q<T, R>("q")),
        k_(like_q<T, R>("k")),
        v_(like_q<T, R>("v")),
        logsumexp_(last<R - 1>({sizes_[0], sizes_[1], sizes_[3]})) {
    logsumexp_.fill(std::numeric_limits<T>::quiet_NaN());
  }

  heed::TensorView<const T, R> q() const { return stretched(q_, {b(), h(), t(), d()}); }
  heed::TensorView<const T, R> k() const { return stretched(k_, {b(), g(), s(), d()}); }
  heed::TensorView<const T, R> v() const { return stretched(v_, {b(), g(), s(), e()}); }
  heed::Tensor<T, R - 1>& logsumexp() { return logsumexp_; }
  heed::Shape<R> out_shape() const { return last<R>({b(), h(), t(), e()}); }

  double number(const char* name) { return next(name).numbers().at(0); }
  std::vector<Index> key_lengths() { return next("key_lengths").indices(); }
  Window window() {
    const auto side = [](const std::string& word) { return word == "unbounded" ? heed::unbounded : std::stol(word); };
    const Line& line = next("sliding_window");
    return {side(line.words().at(0)), side(line.words().at(1))};
  }

  template <int Rank>
  LaidOut<bool, Rank> mask() {
    const Line& line = next("mask_" + std::to_string(Rank));
    const double visible = line.numbers("visible").at(0);
    return draw<bool, Rank>(line, [&](double u) { return u < visible; });
  }
  template <int Rank>
  LaidOut<T, Rank> bias() {
    const Line& line = next("bias_" + std::to_string(Rank));
    const double hidden = line.numbers("hidden").at(0);
    return draw<T, Rank>(line,
                         [&](double u) { return u < hidden ? -std::numeric_limits<double>::infinity() : grid(u); });
  }
  LaidOut<T, 1> alibi() {
    return draw<T, 1>(next("alibi"), [](double u) { return std::floor(u * 1024) / 1024; });
  }
  LaidOut<T, 1> sinks() { return like_q<T, 1>("sinks"); }

  RelativeBias<T> relative_bias() {
    next("score_mod_RelativeBias");
    RelativeBias<T> bias{{}, s()};
    for (Index n = 0; n < t() + s(); ++n) bias.table.push_back(static_cast<T>(grid(rng_.template uniform<double>())));
    return bias;
  }
  SameDocument documents() {
    next("mask_mod_SameDocument");
    const auto draws = [&](Index count) {
      std::vector<int> documents;
      for (Index n = 0; n < count; ++n) documents.push_back(static_cast<int>(3 * rng_.template uniform<double>()));
      return documents;
    };
    auto of_queries = draws(t());
    return {of_queries, draws(s())};
  }

  /// To be called when all arguments are read.
  ExpectedResults expected() {
    const std::vector<double> off = next("off").numbers();
    const bool folded = case_.lines.at(read_).name() == "folded";
    return {folded, next(folded ? "folded" : "out").numbers(), next("lse").numbers(), off.at(0), off.at(1)};
  }

 private:
  Index b() const { return sizes_[0]; }
  Index h() const { return sizes_[1]; }
  Index g() const { return sizes_[2]; }
  Index t() const { return sizes_[3]; }
  Index s() const { return sizes_[4]; }
  Index d() const { return sizes_[5]; }
  Index e() const { return sizes_[6]; }

  const Line& next(const std::string& name) {
    const Line& line = case_.lines.at(read_++);
    if (line.name() != name) throw std::runtime_error(case_.name + ": " + line.name() + " instead of " + name);
    return line;
  }

  template <int Rank>
  static heed::Shape<Rank> last(const std::vector<Index>& sizes) {
    heed::Shape<Rank> shape;
    std::copy(sizes.end() - Rank, sizes.end(), shape.begin());
    return shape;
  }

  template <class X, int Rank, class FromUniform>
  LaidOut<X, Rank> draw(const Line& line, const FromUniform& from_uniform) {
    heed::Tensor<X, Rank> x(last<Rank>(line.indices("shape")));
    for (Index n = 0; n < x.size(); ++n) x.data()[n] = static_cast<X>(from_uniform(rng_.template uniform<double>()));
    Layout<Rank> layout;
    const auto order = line.indices("order"), step = line.indices("step"), gap = line.indices("gap");
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(Rank); ++axis)
      layout.order[axis] = static_cast<int>(order.empty() ? axis : static_cast<std::size_t>(order[axis]));
    if (!step.empty()) layout.step = step[0];
    if (!gap.empty()) layout.gap = gap[0];
    for (const Index axis : line.indices("backwards")) layout.backwards.at(static_cast<std::size_t>(axis)) = true;
    return LaidOut<X, Rank>(x, layout);
  }
  template <class X, int Rank>
  LaidOut<X, Rank> like_q(const char* name) {
    return draw<X, Rank>(next(name), grid);
  }

  /// Axes of size 1 repeat, with a stride of 0.
  heed::TensorView<const T, R> stretched(const LaidOut<T, R>& x, const std::vector<Index>& sizes) const {
    const heed::Shape<R> shape = last<R>(sizes);
    heed::Strides<R> strides = x.view().strides();
    for (int axis = 0; axis < R; ++axis)
      if (x.view().shape()[axis] != shape[axis]) strides[static_cast<std::size_t>(axis)] = 0;
    return {x.view().data(), shape, strides};
  }

  const CompositionCase& case_;
  std::size_t read_ = 0;
  heed::Generator rng_;
  std::vector<Index> sizes_;
  LaidOut<T, R> q_, k_, v_;
  heed::Tensor<T, R - 1> logsumexp_;
};

}  // namespace support
