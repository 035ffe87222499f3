// Reads a comma-separated file of numbers into a tensor: the journey's way to a reader's own tokens.
#pragma once

#include <heed/core/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <istream>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace csv {

// What is wrong with a file, and where: "tokens.csv:3: 2 numbers, but line 1 has 3".
class Error : public std::runtime_error {
 public:
  Error(const std::string& file, std::size_t line, const std::string& what)
      : std::runtime_error(file + ':' + std::to_string(line) + ": " + what) {}
  Error(const std::string& file, const std::string& what) : std::runtime_error(file + ": " + what) {}
};

inline std::string_view trimmed(std::string_view text) {
  const char* const blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The text as an error message may show it: short, and without control characters.
inline std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown(text.substr(0, longest));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return '\'' + shown + (text.size() > longest ? "…'" : "'");
}

// A decimal number such as -1.5e-3, always with a point, whatever the user's locale. Not "nan" or "inf": a token that
// holds one would make the whole result NaN. std::from_chars would do this, but older libc++ has none for floating
// point.
inline float parse_number(std::string_view text) {
  const auto is_ours = [](char c) { return std::string_view("+-.0123456789eE").find(c) != std::string_view::npos; };
  double value = 0;
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  const bool is_number = (in >> value) || value != 0;  // out of double's range fails too, but leaves its end
  if (!is_number || !in.eof() || !std::all_of(text.begin(), text.end(), is_ours))
    throw std::invalid_argument(text.empty() ? "a number is missing" : quoted(text) + " is not a number");
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
    throw std::invalid_argument(quoted(text) + " is too large for a float");
  return static_cast<float>(value);
}

// Appends the numbers of one line and returns how many there were.
inline std::size_t parse_line(std::string_view line, std::vector<float>& numbers) {
  std::size_t count = 0;
  for (std::size_t start = 0; start != std::string_view::npos; ++count) {
    const std::size_t comma = line.find(',', start);
    const std::size_t end = comma == std::string_view::npos ? line.size() : comma;
    numbers.push_back(parse_number(trimmed(line.substr(start, end - start))));
    start = comma == std::string_view::npos ? comma : comma + 1;
  }
  return count;
}

// ℝ^{rows×columns} of the numbers in a stream; `name` is for messages. Windows line ends, a UTF-8 byte-order mark,
// blanks around numbers and empty lines at the end are fine. Throws Error on anything else that is not a rectangle of
// numbers.
inline heed::Tensor<float, 2> read(std::istream& in, const std::string& name) {
  std::vector<float> numbers;
  std::size_t rows = 0, columns = 0, line_number = 0, blank_line = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    if (line_number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (trimmed(line).empty()) {
      if (blank_line == 0) blank_line = line_number;
      continue;
    }
    if (blank_line != 0) throw Error(name, blank_line, "an empty line before more numbers");
    std::size_t count = 0;
    try {
      count = parse_line(line, numbers);
    } catch (const std::invalid_argument& error) {
      throw Error(name, line_number, error.what());
    }
    if (rows == 0) columns = count;
    if (count != columns)
      throw Error(name, line_number,
                  std::to_string(count) + (count == 1 ? " number" : " numbers") + ", but line 1 has " +
                      std::to_string(columns));
    ++rows;
  }
  if (in.bad()) throw Error(name, line_number, "cannot be read");
  if (rows == 0)
    throw Error(name, std::max<std::size_t>(line_number, 1),
                "no numbers; expected one row a token, separated by commas");
  heed::Tensor<float, 2> result(rows, columns);
  std::copy(numbers.begin(), numbers.end(), result.data());
  return result;
}

inline heed::Tensor<float, 2> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path, "cannot be opened");
  return read(in, path);
}

}  // namespace csv
