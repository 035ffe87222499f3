// "Your journey starts with one step": six tokens walk through the five attention modules of "Build a Large Language
// Model (From Scratch)", chapter 3. Everything is drawn from seeds, and every table is compared with what PyTorch
// prints.
//
//     journey               the worked examples; exits with 1 if a table is off
//     journey tokens.csv    the same modules on your own tokens; exits with 2 if the file is not a table of numbers

#include "csv.hpp"
#include "worked_examples.hpp"

#include <heed/heed.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

namespace {

namespace tables = worked_examples;
using heed::Index;
using Matrix = heed::Tensor<float, 2>;
using Batch = heed::Tensor<float, 3>;

// ---- showing and comparing

std::string scientific(double x) {
  std::ostringstream out;
  out << std::setprecision(1) << std::scientific << x;
  return x == 0 ? "0" : out.str();
}

// Every part of the output ends with an empty line.
void headline(const std::string& title) { std::cout << title << '\n' << std::string(title.size(), '-') << '\n'; }

// One step of the data's way: "tokens ℝ^{6×3}".
template <class X>
std::string step(const char* name, const X& x) {
  return std::string(name) + ' ' + heed::to_string(x.shape());
}

// The whole way, on one line.
template <class... Steps>
void show_flow(const std::string& first, const Steps&... rest) {
  std::cout << first;
  ((std::cout << " → " << rest), ...);
  std::cout << "\n\n";
}

template <std::size_t Rows, std::size_t Cols>
Matrix to_tensor(const tables::Table<Rows, Cols>& table) {
  Matrix result(Rows, Cols);
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j) result(i, j) = static_cast<float>(table.values[i][j]);
  return result;
}

// The largest distance of a result from its table; infinite if the shapes differ or a number is NaN.
template <std::size_t Rows, std::size_t Cols>
double difference(heed::TensorView<const float, 2> result, const tables::Table<Rows, Cols>& table) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (result.shape() != heed::Shape(Rows, Cols)) return infinity;
  double largest = 0;
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) {
      const double distance = std::abs(static_cast<double>(result(i, j)) - table.values[i][j]);
      largest = std::max(largest, std::isnan(distance) ? infinity : distance);
    }
  }
  return largest;
}

// Shows results and remembers how far they were from their tables.
class Report {
 public:
  template <std::size_t Rows, std::size_t Cols>
  void compare(const std::string& name, const Matrix& result, const tables::Table<Rows, Cols>& table) {
    std::cout << name << "  " << result;
    judge(difference<Rows, Cols>(result, table), table.digits, table.tolerance());
  }

  // A batch of which every entry must equal the table.
  template <std::size_t Rows, std::size_t Cols>
  void compare(const std::string& name, const Batch& result, const tables::Table<Rows, Cols>& table) {
    std::cout << name << "  " << result;
    double largest = 0;
    for (Index b = 0; b < result.shape()[0]; ++b) largest = std::max(largest, difference<Rows, Cols>(result[b], table));
    judge(largest, table.digits, table.tolerance());
  }

  // The last word, and the exit status.
  int finish() const {
    headline("Arrived");
    std::cout << tables_ - off_ << " of " << tables_ << " tables are PyTorch's to the last printed digit.\n"
              << "Largest difference: " << scientific(largest_of_six_) << " where six digits were printed, "
              << scientific(largest_of_four_) << " where four.\n";
    return off_ == 0 ? 0 : 1;
  }

 private:
  void judge(double largest, int digits, double tolerance) {
    const bool is_off = !(largest <= tolerance);
    ++tables_;
    off_ += is_off ? 1 : 0;
    double& record = digits == 6 ? largest_of_six_ : largest_of_four_;
    record = std::max(record, largest);
    std::cout << (is_off ? "  OFF: " : "  ok: ") << "largest difference from the reference " << scientific(largest)
              << " (allowed " << scientific(tolerance) << ")\n\n";
  }

  int tables_ = 0;
  int off_ = 0;
  double largest_of_six_ = 0;
  double largest_of_four_ = 0;
};

// ---- the worked examples

// Two heads of one number each, or for the wrapper two heads of two numbers each.
constexpr heed::AttentionConfig book{
    .d_in = 3, .d_out = 2, .context_length = 6, .dropout = 0.0, .num_heads = 2, .qkv_bias = false};

// The book's SelfAttention_v2 and what it weighs, which later steps come back to.
heed::SelfAttention_v2<> make_v2() {
  heed::Generator rng(789);
  return heed::SelfAttention_v2(book, rng);
}

// The weights of a single sentence and a single head: ℝ^{1×t×t} → ℝ^{t×t}.
Matrix only_head(const Batch& weights) { return heed::copy(weights[0]); }

void six_tokens(const Matrix& sentence) {
  headline("1  Six tokens: \"your journey starts with one step\"");
  std::cout << "one row a token  " << sentence << '\n';
}

void self_attention_v1(Report& report, const Matrix& sentence) {
  headline("2  SelfAttention_v1, seed 123");
  heed::Generator rng(123);
  const heed::SelfAttention_v1 attention(book, rng);
  const Batch weights = attention.weights(sentence);
  const Matrix context = attention(sentence);
  show_flow(step("tokens", sentence), step("weights", weights), step("context", context));
  report.compare("W_query", heed::copy(attention.W_query()), tables::v1_query);
  report.compare("W_key", heed::copy(attention.W_key()), tables::v1_key);
  report.compare("W_value", heed::copy(attention.W_value()), tables::v1_value);
  report.compare("context", context, tables::v1_output);
}

void self_attention_v2(Report& report, const Matrix& sentence) {
  headline("3  SelfAttention_v2, seed 789");
  const heed::SelfAttention_v2 attention = make_v2();
  const Matrix queries = attention.W_query()(sentence);
  const Batch weights = attention.weights(sentence);
  const Matrix context = attention(sentence);
  show_flow(step("tokens", sentence), step("queries", queries), step("weights", weights), step("context", context));
  report.compare("W_query.weight", heed::copy(attention.W_query().weight()), tables::v2_query);
  report.compare("weights", only_head(weights), tables::v2_weights);
  report.compare("context", context, tables::v2_output);
}

Matrix causal_attention_weights(Report& report, const Matrix& sentence) {
  headline("4  Causal weights: no token sees a later one");
  const Batch weights = make_v2().weights(sentence, heed::causal());
  show_flow(step("tokens", sentence), step("weights", weights));
  Matrix causal = only_head(weights);
  report.compare("weights", causal, tables::causal_weights);
  return causal;
}

// The blog prints weights T but not the scores they come from. Scores of log(T), plus anything a row likes, must give T
// back; what stands above the diagonal must not matter.
void masked_matrix(Report& report) {
  headline("5  The blog's masked matrix, from scores of log(T)");
  const Matrix expected = to_tensor(tables::masked_matrix);
  heed::Generator rng(123);
  Matrix scores = heed::rand<float>(rng, 6, 6);
  for (Index i = 0; i < 6; ++i) {
    const float shift = rng.uniform<float>();
    for (Index j = 0; j < 6; ++j)
      scores(i, j) = j <= i ? std::log(expected(i, j)) + shift : 1000 * (scores(i, j) - 0.5F);
  }
  const Matrix zeros(6, 1);  // queries and keys: every score is 0 but for the bias
  const Matrix weights = heed::attention_weights(zeros, zeros, heed::bias(scores), heed::causal());
  show_flow(step("scores", scores), step("weights", weights));
  std::cout << "scores  " << scores << '\n';
  report.compare("weights", weights, tables::masked_matrix);
}

void dropout(Report& report, const Matrix& causal_weights) {
  headline("6  Dropout, p = 0.5, seed 123");
  const heed::Dropout half(0.5);
  Matrix ones(6, 6);
  ones.fill(1);
  heed::Generator rng(123);
  report.compare("dropout of ones", half(ones, rng), tables::dropout_of_ones);
  rng = heed::Generator(123);
  report.compare("dropout of the causal weights", half(causal_weights, rng), tables::dropout_of_causal_weights);
}

Batch make_batch(const Matrix& sentence) {
  headline("7  A batch: the sentence twice");
  Batch batch = heed::stack(sentence, sentence);
  show_flow(step("tokens", sentence), step("batch", batch));
  return batch;
}

void causal_attention(Report& report, const Batch& batch) {
  headline("8  CausalAttention, seed 123");
  heed::Generator rng(123);
  const heed::CausalAttention attention(book, rng);
  const Batch queries = attention.W_query()(batch);
  const Batch context = attention(batch);
  show_flow(step("batch", batch), step("queries", queries), step("weights", attention.weights(batch)),
            step("context", context));
  report.compare("context", context, tables::causal_output);
}

void multi_head_attention_wrapper(Report& report, const Batch& batch) {
  headline("9  MultiHeadAttentionWrapper, seed 123: two CausalAttentions side by side");
  heed::Generator rng(123);
  const heed::MultiHeadAttentionWrapper attention(book, rng);
  const Batch first_head = attention.head(0)(batch);
  const Batch context = attention(batch);
  show_flow(step("batch", batch), step("weights", attention.weights(batch)), step("one head", first_head),
            step("context", context));
  report.compare("context", context, tables::wrapper_output);
}

void multi_head_attention(Report& report, const Batch& batch) {
  headline("10  MultiHeadAttention, seed 123: one product, split into two heads");
  heed::Generator rng(123);
  const heed::MultiHeadAttention attention(book, rng);
  const Batch queries = attention.W_query()(batch);
  const auto heads = heed::split_heads(queries, book.num_heads);
  const Batch context = attention(batch);
  show_flow(step("batch", batch), step("queries", queries), step("heads", heads),
            step("weights", attention.weights(batch)), step("context", context));
  report.compare("context", context, tables::multi_head_output);
}

int worked_examples_journey() {
  Report report;
  const Matrix sentence = to_tensor(tables::sentence);
  six_tokens(sentence);
  self_attention_v1(report, sentence);
  self_attention_v2(report, sentence);
  const Matrix causal = causal_attention_weights(report, sentence);
  masked_matrix(report);
  dropout(report, causal);
  const Batch batch = make_batch(sentence);
  causal_attention(report, batch);
  multi_head_attention_wrapper(report, batch);
  multi_head_attention(report, batch);
  return report.finish();
}

// ---- your own tokens

template <class Module>
void visit(const std::string& name, const Matrix& tokens, const heed::AttentionConfig& config) {
  headline(name + ", seed 123");
  heed::Generator rng(123);
  const Module attention(config, rng);
  const Batch weights = attention.weights(tokens);
  const Matrix context = attention(tokens);
  show_flow(step("tokens", tokens), step("weights", weights), step("context", context));
  std::cout << "weights  " << weights << "\ncontext  " << context << '\n';
}

int own_tokens_journey(const std::string& path) {
  const Matrix tokens = csv::read_file(path);
  const heed::AttentionConfig config{.d_in = tokens.shape()[1],
                                     .d_out = 2,
                                     .context_length = tokens.shape()[0],
                                     .dropout = 0.0,
                                     .num_heads = 2,
                                     .qkv_bias = false};
  headline("Tokens of " + path);
  std::cout << "tokens  " << tokens << '\n';
  visit<heed::SelfAttention_v1<>>("SelfAttention_v1", tokens, config);
  visit<heed::SelfAttention_v2<>>("SelfAttention_v2", tokens, config);
  visit<heed::CausalAttention<>>("CausalAttention", tokens, config);
  visit<heed::MultiHeadAttentionWrapper<>>("MultiHeadAttentionWrapper", tokens, config);
  visit<heed::MultiHeadAttention<>>("MultiHeadAttention", tokens, config);
  return 0;
}

constexpr std::string_view usage =
    "usage: journey              the worked examples, compared with PyTorch's numbers\n"
    "       journey TOKENS.csv   the five modules on your own tokens: one row a token, numbers separated by commas\n"
    "       journey --help       this text\n";

int run(int argc, char** argv) {
  if (argc == 1) return worked_examples_journey();
  const std::string_view argument = argv[1];
  if (argc == 2 && (argument == "--help" || argument == "-h")) {
    std::cout << usage;
    return 0;
  }
  if (argc > 2 || argument.starts_with("--")) {
    std::cerr << usage;
    return 2;
  }
  return own_tokens_journey(std::string(argument));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int status = run(argc, argv);
    if (std::cout.flush()) return status;
    std::cerr << "journey: the output cannot be written\n";
  } catch (const csv::Error& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "journey: " << error.what() << '\n';
  }
  return 1;
}
