// heed puts no name into the global namespace: a program's own names stay its own, whether declared before or after the
// headers. A global using-declaration clashes with these, a global using-directive makes their use ambiguous.
struct Tensor;
struct TensorView;
struct Shape;
struct Index;

#include "all.hpp"

struct AttentionConfig;
struct Generator;
struct Philox;
struct Linear;
struct Dropout;
struct CausalAttention;
struct MultiHeadAttention;
struct Parameter;
struct ShapeError;
struct Matrix;  // Eigen's
struct Map;
struct vector;  // the standard library's
struct array;
struct string;
struct span;
struct optional;

template <class... T>
struct Types {};
using Names =
    Types<Tensor, TensorView, Shape, Index, AttentionConfig, Generator, Philox, Linear, Dropout, CausalAttention,
          MultiHeadAttention, Parameter, ShapeError, Matrix, Map, vector, array, string, span, optional>;

// The same with functions.
static constexpr int view = 1, copy = 1, slice = 1, transpose = 1, stack = 1, merge = 1, mask = 1, bias = 1, scale = 1,
                     causal = 1, dropout = 1, size = 1, move = 1, max = 1, min = 1;
static_assert(view + copy + slice + transpose + stack + merge + mask + bias + scale + causal + dropout + size + move +
                  max + min ==
              15);
