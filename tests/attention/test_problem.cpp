#include "catch.hpp"
#include "core/helpers.hpp"

#include <heed/attention/problem.hpp>
#include <heed/core/tensor.hpp>

#include <string>
#include <vector>

using core_tests::shape_error;
using heed::Index;
using heed::Shape;
using heed::Tensor;
using heed::TensorView;
namespace detail = heed::detail;

namespace {

template <int R>
std::string refusal(const Shape<R>& q, const Shape<R>& k) {
  return shape_error([&] { detail::checked_sizes("f", q, k); });
}

const detail::AttentionSizes problem{"f", 4, 2, 3, 1, 4, 5, 6};

}  // namespace

TEST_CASE("the sizes of a problem are read from q and k of rank 2, 3 or 4", "[attention][problem]") {
  const auto four = detail::checked_sizes("f", Shape<4>(2, 6, 4, 7), Shape<4>(2, 3, 5, 7));
  CHECK(four.rank == 4);
  CHECK(std::vector<Index>{four.b, four.h, four.g, four.t, four.s, four.d} == std::vector<Index>{2, 6, 3, 4, 5, 7});
  const auto three = detail::checked_sizes("f", Shape<3>(6, 4, 7), Shape<3>(3, 5, 7));
  CHECK(three.rank == 3);
  CHECK(std::vector<Index>{three.b, three.h, three.g, three.t, three.s, three.d} ==
        std::vector<Index>{1, 6, 3, 4, 5, 7});
  const auto two = detail::checked_sizes("f", Shape<2>(4, 7), Shape<2>(5, 7));
  CHECK(two.rank == 2);
  CHECK(std::vector<Index>{two.b, two.h, two.g, two.t, two.s, two.d} == std::vector<Index>{1, 1, 1, 4, 5, 7});
  CHECK(detail::score_shape(four) == Shape<4>(2, 6, 4, 5));
}

TEST_CASE("batches, heads, queries and keys may be none", "[attention][problem]") {
  CHECK(detail::checked_sizes("f", Shape<4>(0, 2, 3, 4), Shape<4>(0, 1, 5, 4)).b == 0);
  CHECK(detail::checked_sizes("f", Shape<4>(1, 0, 3, 4), Shape<4>(1, 2, 5, 4)).h == 0);
  CHECK(detail::checked_sizes("f", Shape<4>(1, 0, 3, 4), Shape<4>(1, 0, 5, 4)).g == 0);
  CHECK(detail::checked_sizes("f", Shape<2>(0, 4), Shape<2>(5, 4)).t == 0);
  CHECK(detail::checked_sizes("f", Shape<2>(3, 4), Shape<2>(0, 4)).s == 0);
}

TEST_CASE("a query and keys that do not fit are refused with both shapes as given", "[attention][problem]") {
  CHECK(refusal(Shape<4>(2, 3, 4, 5), Shape<4>(1, 3, 4, 5)) ==
        "f: q is ℝ^{2×3×4×5} and k is ℝ^{1×3×4×5}, but their batch sizes must be equal");
  CHECK(refusal(Shape<4>(1, 3, 4, 5), Shape<4>(2, 3, 4, 5)) ==  // a batch of one is not repeated
        "f: q is ℝ^{1×3×4×5} and k is ℝ^{2×3×4×5}, but their batch sizes must be equal");
  CHECK(refusal(Shape<4>(2, 3, 4, 5), Shape<4>(2, 2, 4, 5)) ==
        "f: q is ℝ^{2×3×4×5} and k is ℝ^{2×2×4×5}, but the 3 query heads are not a multiple of the 2 key heads");
  CHECK(refusal(Shape<3>(2, 4, 5), Shape<3>(4, 4, 5)) ==
        "f: q is ℝ^{2×4×5} and k is ℝ^{4×4×5}, but the 2 query heads are not a multiple of the 4 key heads");
  CHECK(refusal(Shape<3>(2, 4, 5), Shape<3>(0, 4, 5)) ==
        "f: q is ℝ^{2×4×5} and k is ℝ^{0×4×5}, but the 2 query heads are not a multiple of the 0 key heads");
  CHECK(refusal(Shape<2>(4, 5), Shape<2>(4, 6)) ==
        "f: q is ℝ^{4×5} and k is ℝ^{4×6}, but their last sizes must be equal");
  CHECK(refusal(Shape<2>(4, 0), Shape<2>(4, 0)) ==
        "f: q is ℝ^{4×0} and k is ℝ^{4×0}, but their last size must not be 0");
}

TEST_CASE("values have the keys' sizes but for a last one of their own", "[attention][problem]") {
  const auto refusal_of = [](const auto& k, const auto& v) {
    return shape_error([&] { detail::check_values("f", k, v); });
  };
  CHECK_NOTHROW(detail::check_values("f", Shape<4>(2, 3, 4, 5), Shape<4>(2, 3, 4, 9)));
  CHECK_NOTHROW(detail::check_values("f", Shape<2>(0, 5), Shape<2>(0, 1)));
  const std::string rest = ", but it must have the sizes of k ", end = ", except for the last, which is at least 1";
  CHECK(refusal_of(Shape<4>(2, 3, 4, 5), Shape<4>(1, 3, 4, 5)) == "f: v is ℝ^{1×3×4×5}" + rest + "ℝ^{2×3×4×5}" + end);
  CHECK(refusal_of(Shape<3>(3, 4, 5), Shape<3>(1, 4, 5)) == "f: v is ℝ^{1×4×5}" + rest + "ℝ^{3×4×5}" + end);
  CHECK(refusal_of(Shape<2>(4, 5), Shape<2>(3, 5)) == "f: v is ℝ^{3×5}" + rest + "ℝ^{4×5}" + end);
  CHECK(refusal_of(Shape<2>(4, 5), Shape<2>(4, 0)) == "f: v is ℝ^{4×0}" + rest + "ℝ^{4×5}" + end);
}

TEST_CASE("an output has the shape of the result", "[attention][problem]") {
  CHECK_NOTHROW(detail::check_output_shape("f", Shape<2>(2, 3), Shape<2>(2, 3)));
  CHECK(shape_error([] { detail::check_output_shape("f", Shape<2>(3, 2), Shape<2>(2, 3)); }) ==
        "f: out is ℝ^{3×2}, but the result is ℝ^{2×3}");
}

TEST_CASE("lifting a view puts axes of size 1 in front and copies nothing", "[attention][problem]") {
  Tensor<float, 2> x(2, 3);
  const TensorView<float, 4> lifted = detail::lift<4>(heed::view(x));
  CHECK(lifted.shape() == Shape<4>(1, 1, 2, 3));
  CHECK(&lifted(0, 0, 1, 2) == &x(1, 2));
  lifted(0, 0, 1, 0) = 4;
  CHECK(x(1, 0) == 4);
}

TEST_CASE("a modifier's view is stretched to the scores, aligned on the right", "[attention][problem]") {
  Tensor<float, 4> all(2, 3, 4, 5);
  Tensor<float, 4> keys(2, 1, 1, 5);
  Tensor<float, 3> heads(3, 4, 1);
  Tensor<float, 2> one(1, 1);
  const auto stretched = [](auto& x) { return detail::broadcast_to_scores(problem, "bias", heed::view(x)); };
  CHECK(stretched(all).shape() == Shape<4>(2, 3, 4, 5));
  CHECK(&stretched(all)(1, 2, 3, 4) == &all(1, 2, 3, 4));
  CHECK(&stretched(keys)(1, 2, 3, 4) == &keys(1, 0, 0, 4));
  CHECK(&stretched(heads)(1, 2, 3, 4) == &heads(2, 3, 0));
  CHECK(stretched(one).shape() == Shape<4>(2, 3, 4, 5));
  CHECK(&stretched(one)(1, 2, 3, 4) == &one(0, 0));
}

TEST_CASE("a modifier's view that does not broadcast is refused with the scores as the caller sees them",
          "[attention][problem]") {
  const auto refusal_of = [](detail::AttentionSizes sizes, auto shape) {
    Tensor<bool, shape.rank()> mask(shape);
    return shape_error([&] { detail::broadcast_to_scores(sizes, "mask", heed::view(mask)); });
  };
  const std::string rest = ", which does not broadcast to the scores ";
  CHECK(refusal_of(problem, Shape<4>(2, 3, 4, 6)) == "f: mask is ℝ^{2×3×4×6}" + rest + "ℝ^{2×3×4×5}");
  CHECK(refusal_of(problem, Shape<3>(2, 4, 5)) == "f: mask is ℝ^{2×4×5}" + rest + "ℝ^{2×3×4×5}");
  CHECK(refusal_of(problem, Shape<2>(5, 4)) == "f: mask is ℝ^{5×4}" + rest + "ℝ^{2×3×4×5}");
  CHECK(refusal_of(problem, Shape<2>(0, 5)) == "f: mask is ℝ^{0×5}" + rest + "ℝ^{2×3×4×5}");
  CHECK(refusal_of({"f", 3, 1, 3, 3, 4, 5, 6}, Shape<4>(2, 3, 4, 5)) == "f: mask is ℝ^{2×3×4×5}" + rest + "ℝ^{3×4×5}");
  CHECK(refusal_of({"f", 2, 1, 1, 1, 4, 5, 6}, Shape<3>(3, 4, 5)) == "f: mask is ℝ^{3×4×5}" + rest + "ℝ^{4×5}");
}
