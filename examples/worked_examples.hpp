// The reference tables of the worked examples of "Build a Large Language Model (From Scratch)", chapter 3: what PyTorch
// prints on a CPU in float32, with dropout as builds without MKL draw it. One sentence, five modules, everything from a
// seed.
#pragma once

#include <cstddef>

namespace worked_examples {

// A printed table. `digits` counts those after the decimal point; none means that the numbers are exact.
template <std::size_t Rows, std::size_t Cols>
struct Table {
  int digits;
  double values[Rows][Cols];

  // How far a result may lie from it: half a unit of the last digit, and 5e-7 for the float rounding of what was
  // printed.
  constexpr double tolerance() const {
    if (digits == 0) return 0;
    double unit = 1;
    for (int i = 0; i < digits; ++i) unit /= 10;
    return unit / 2 + 5e-7;
  }
};

// clang-format off

// "your journey starts with one step", one row a token: ℝ^{6×3}. The batch is this sentence twice: ℝ^{2×6×3}.
inline constexpr Table<6, 3> sentence{0, {
  {0.43, 0.15, 0.89},
  {0.55, 0.87, 0.66},
  {0.57, 0.85, 0.64},
  {0.22, 0.58, 0.33},
  {0.77, 0.25, 0.10},
  {0.05, 0.80, 0.55},
}};

// SelfAttention_v1, seed 123, d_out 2: W_query ℝ^{3×2}.
inline constexpr Table<3, 2> v1_query{6, {
  {0.296112, 0.516562},
  {0.251671, 0.688557},
  {0.073972, 0.866522},
}};

// SelfAttention_v1, seed 123, d_out 2: W_key ℝ^{3×2}.
inline constexpr Table<3, 2> v1_key{6, {
  {0.136580, 0.102479},
  {0.184056, 0.726447},
  {0.315254, 0.687107},
}};

// SelfAttention_v1, seed 123, d_out 2: W_value ℝ^{3×2}.
inline constexpr Table<3, 2> v1_value{6, {
  {0.075635, 0.196638},
  {0.316412, 0.401740},
  {0.118568, 0.827395},
}};

// SelfAttention_v1, seed 123, d_out 2: output ℝ^{6×2} for the sentence.
inline constexpr Table<6, 2> v1_output{6, {
  {0.299582, 0.805314},
  {0.306100, 0.821030},
  {0.305781, 0.820296},
  {0.294766, 0.793866},
  {0.292706, 0.789084},
  {0.299010, 0.804037},
}};

// SelfAttention_v2, seed 789, d_out 2: W_query.weight ℝ^{2×3}.
inline constexpr Table<2, 3> v2_query{6, {
  { 0.316059,  0.456809,  0.511835},
  {-0.168285, -0.337877, -0.091774},
}};

// SelfAttention_v2, seed 789, d_out 2: output ℝ^{6×2} for the sentence.
inline constexpr Table<6, 2> v2_output{6, {
  {-0.073890,  0.071290},
  {-0.074811,  0.070309},
  {-0.074856,  0.070242},
  {-0.076002,  0.068450},
  {-0.076328,  0.067943},
  {-0.075444,  0.069305},
}};

// SelfAttention_v2, seed 789, d_out 2: attention weights ℝ^{6×6}.
inline constexpr Table<6, 6> v2_weights{6, {
  {0.192126, 0.164646, 0.165161, 0.154994, 0.172115, 0.150958},
  {0.204125, 0.165883, 0.166215, 0.149578, 0.166453, 0.147746},
  {0.203562, 0.165924, 0.166249, 0.149815, 0.166417, 0.148033},
  {0.186888, 0.166688, 0.166836, 0.157104, 0.166091, 0.156392},
  {0.183045, 0.166859, 0.166957, 0.158840, 0.165825, 0.158474},
  {0.193472, 0.166333, 0.166568, 0.154186, 0.166561, 0.152880},
}};

// The same attention weights when no token sees a later one: ℝ^{6×6}.
inline constexpr Table<6, 6> causal_weights{6, {
  {1.000000, 0.000000, 0.000000, 0.000000, 0.000000, 0.000000},
  {0.551678, 0.448322, 0.000000, 0.000000, 0.000000, 0.000000},
  {0.379967, 0.309714, 0.310319, 0.000000, 0.000000, 0.000000},
  {0.275843, 0.246028, 0.246247, 0.231882, 0.000000, 0.000000},
  {0.217515, 0.198281, 0.198398, 0.188753, 0.197053, 0.000000},
  {0.193472, 0.166333, 0.166568, 0.154186, 0.166561, 0.152880},
}};

// The masked matrix that the blog prints, ℝ^{6×6}: rows of weights that sum to one, from scores it does not give.
inline constexpr Table<6, 6> masked_matrix{4, {
  {1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000},
  {0.4902, 0.5098, 0.0000, 0.0000, 0.0000, 0.0000},
  {0.3256, 0.3379, 0.3365, 0.0000, 0.0000, 0.0000},
  {0.2429, 0.2497, 0.2492, 0.2582, 0.0000, 0.0000},
  {0.2008, 0.1982, 0.1978, 0.2075, 0.1957, 0.0000},
  {0.1582, 0.1664, 0.1659, 0.1727, 0.1597, 0.1771},
}};

// Dropout of ones ℝ^{6×6}, p = 0.5, seed 123.
inline constexpr Table<6, 6> dropout_of_ones{0, {
  {2, 2, 0, 2, 2, 0},
  {0, 0, 0, 2, 0, 2},
  {2, 2, 2, 2, 0, 2},
  {0, 2, 2, 0, 0, 2},
  {0, 2, 0, 2, 0, 2},
  {0, 2, 2, 2, 2, 0},
}};

// Dropout of causal_weights ℝ^{6×6}, p = 0.5, seed 123.
inline constexpr Table<6, 6> dropout_of_causal_weights{4, {
  {2.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000},
  {0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000},
  {0.7599, 0.6194, 0.6206, 0.0000, 0.0000, 0.0000},
  {0.0000, 0.4921, 0.4925, 0.0000, 0.0000, 0.0000},
  {0.0000, 0.3966, 0.0000, 0.3775, 0.0000, 0.0000},
  {0.0000, 0.3327, 0.3331, 0.3084, 0.3331, 0.0000},
}};

// CausalAttention, seed 123, d_out 2: output ℝ^{6×2}, the same for both rows of the batch.
inline constexpr Table<6, 2> causal_output{6, {
  {-0.451920,  0.221605},
  {-0.587435,  0.005776},
  {-0.630023, -0.063183},
  {-0.567457, -0.084253},
  {-0.552562, -0.098068},
  {-0.529901, -0.108068},
}};

// MultiHeadAttentionWrapper, seed 123, 2 heads of d_out 2: output ℝ^{6×4}, the same for both rows of the batch.
inline constexpr Table<6, 4> wrapper_output{6, {
  {-0.451920,  0.221605,  0.477196,  0.106348},
  {-0.587435,  0.005776,  0.589073,  0.325660},
  {-0.630023, -0.063183,  0.620196,  0.385963},
  {-0.567457, -0.084253,  0.547769,  0.358925},
  {-0.552562, -0.098068,  0.532089,  0.342797},
  {-0.529901, -0.108068,  0.507653,  0.349348},
}};

// MultiHeadAttention, seed 123, d_out 2, 2 heads: output ℝ^{6×2}, the same for both rows of the batch.
inline constexpr Table<6, 2> multi_head_output{6, {
  {0.319018, 0.485763},
  {0.294346, 0.389676},
  {0.285575, 0.359278},
  {0.269264, 0.387327},
  {0.263871, 0.392796},
  {0.257474, 0.402783},
}};

// clang-format on

}  // namespace worked_examples
