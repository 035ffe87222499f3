// What a user may give score_mod, mask_mod and prob_mod. Each stands once more in
// tests/fixtures/composition_modifiers.py, for PyTorch.
#pragma once

#include <heed/core/shape.hpp>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <vector>

namespace support {

using heed::Index;

struct Distance {
  template <class T>
  T operator()(T score, Index, Index, Index i, Index j) const {
    return score + T(0.1) * static_cast<T>(i - j);
  }
};

struct HeadGain {
  template <class T>
  T operator()(T score, Index, Index h, Index, Index) const {
    return score * (1 + T(0.05) * static_cast<T>(h));
  }
};

struct Coordinates {
  template <class T>
  T operator()(T score, Index b, Index h, Index i, Index j) const {
    return score * (1 + T(0.01) * static_cast<T>(7 * b + 5 * h + 3 * i + j));
  }
};

struct HalfAhead {
  template <class T>
  T operator()(T score, Index, Index, Index i, Index j) const {
    return j > i ? score / 2 : score;
  }
};

struct Holes {
  template <class T>
  T operator()(T score, Index, Index, Index i, Index j) const {
    return (i + 2 * j) % 5 == 0 ? -std::numeric_limits<T>::infinity() : score;
  }
};

/// NaN at −inf, which must not matter: the pair is hidden already.
struct Softsign {
  template <class T>
  T operator()(T score, Index, Index, Index, Index) const {
    return 4 * score / (4 + std::abs(score));
  }
};
struct SoftsignSlope {
  template <class T>
  T operator()(T score, Index, Index, Index, Index) const {
    return 16 / ((4 + std::abs(score)) * (4 + std::abs(score)));
  }
};

template <class T>
struct RelativeBias {
  std::vector<T> table;  // that of i − j at i − j + centre
  Index centre;

  T operator()(T score, Index, Index, Index i, Index j) const {
    return score + table[static_cast<std::size_t>(i - j + centre)];
  }
};

struct NotEveryThird {
  bool operator()(Index, Index, Index i, Index j) const { return (i + j) % 3 != 0; }
};

struct Striped {
  bool operator()(Index b, Index h, Index, Index j) const { return (j + h + b) % 2 == 0; }
};

struct Near {
  bool operator()(Index, Index, Index i, Index j) const { return std::abs(i - j) <= 5; }
};

struct SameDocument {
  std::vector<int> query_documents, key_documents;

  bool operator()(Index, Index, Index i, Index j) const {
    return query_documents[static_cast<std::size_t>(i)] == key_documents[static_cast<std::size_t>(j)];
  }
};

struct Alternate {
  template <class T>
  T operator()(T weight, Index, Index, Index i, Index j) const {
    return weight * (1 - T(0.1) * static_cast<T>((i + j) % 2));
  }
};

struct Squared {
  template <class T>
  T operator()(T weight, Index, Index, Index, Index) const {
    return weight * weight;
  }
};

/// Not 0 at 0, so that it shows where it is applied to a hidden pair.
struct Raised {
  template <class T>
  T operator()(T weight, Index b, Index h, Index, Index) const {
    return weight + T(0.01) * static_cast<T>(1 + b + h);
  }
};

}  // namespace support
