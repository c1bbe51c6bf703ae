// dynamic_padder's rules for matrices and transforms.
//
// Cholesky and triangular solves: the matrix is continued by the identity, so that what lies beyond
// its size neither changes nor divides anything. Fourier transforms: the roots depend on the size,
// which only the run knows, so that each dimension becomes a dot with the matrix of
// exp(-2 pi i jk / n), made from iotas; n^2 instead of n log n, and exact angles (jk mod n).
#include <numbers>

#include "ops/dim_lists.h"
#include "passes/dynamic/dynamic_arrays_internal.h"

namespace hlokit {
namespace {

using Sizes = DynamicArrays::Sizes;

// Square matrices that are the identity beyond their size.
Instruction* WithIdentity(DynamicArrays& a, Instruction* x) {
  HloWriter& w = a.w();
  const Shape& shape = x->shape();
  const int64_t row = shape.rank() - 2;
  Instruction* diagonal =
      w.Compare(w.Iota(ElementType::kS32, shape.dims, row),
                w.Iota(ElementType::kS32, shape.dims, row + 1), ComparisonDirection::kEq);
  return a.Filled(x, w.Convert(diagonal, shape.type), [&](int64_t d) { return d >= row; });
}

void PadCholesky(DynamicArrays& a, Instruction* i) {
  Instruction* x = i->operand(0);
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), {WithIdentity(a, x)}), a.SizesOf(x));
}

void PadTriangularSolve(DynamicArrays& a, Instruction* i) {
  Instruction* b = i->operand(1);
  const int64_t rank = b->shape().rank();
  const int64_t summed = i->attr<TriangularSolveAttrs>().left_side ? rank - 2 : rank - 1;
  Instruction* filled =
      a.Filled(b, a.w().Integer(b->shape().type, 0), [&](int64_t d) { return d == summed; });
  Instruction* matrix = WithIdentity(a, i->operand(0));
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), {matrix, filled}), a.SizesOf(b));
}

// One dimension of a transform: lines of `in` numbers, n of them at run time, become lines of
// `out`.
struct Line {
  int64_t in, out;
  Instruction* n;  // of the line on its real (or longer) side, at least 1
  bool inverse;
  bool half;  // the input is the first half of a spectrum of a real line
};

// exp(-+ 2 pi i jk / n) for each j and k, over n where inverse, as numbers of `type`.
Instruction* Roots(DynamicArrays& a, const Line& line, ElementType type) {
  HloWriter& w = a.w();
  const DimVector dims = {line.in, line.out};
  const Shape numbers = RowMajor(ElementType::kS64, dims);
  Instruction* n = w.Fill(numbers, w.Convert(line.n, ElementType::kS64));
  Instruction* j = w.Iota(ElementType::kS64, dims, 0);
  Instruction* product = w.Binary(Opcode::kMultiply, j, w.Iota(ElementType::kS64, dims, 1));
  Instruction* turns = w.Convert(w.Binary(Opcode::kRemainder, product, n), ElementType::kF64);
  Instruction* count = w.Convert(n, ElementType::kF64);
  const double circle = (line.inverse ? 2 : -2) * std::numbers::pi;
  Instruction* angle =
      w.Binary(Opcode::kDivide, w.WithNumber(Opcode::kMultiply, turns, circle), count);
  Instruction* weight = w.FillNumber(angle->shape(), 1);
  if (line.inverse) weight = w.Binary(Opcode::kDivide, weight, count);
  if (line.half) {  // all but the ends stand for their conjugates too
    Instruction* twice = w.WithInteger(Opcode::kMultiply, j, 2);
    Instruction* end =
        w.Binary(Opcode::kOr, w.Compare(j, w.FillInteger(numbers, 0), ComparisonDirection::kEq),
                 w.Compare(twice, n, ComparisonDirection::kEq));
    weight = w.Select(end, weight, w.WithNumber(Opcode::kMultiply, weight, 2));
  }
  const ElementType real = type == ElementType::kC128 ? ElementType::kF64 : ElementType::kF32;
  const auto part = [&](Opcode opcode) {
    return w.Convert(w.Binary(Opcode::kMultiply, w.Unary(opcode, angle), weight), real);
  };
  Instruction* cosine = part(Opcode::kCosine);
  return a.rewriter().Add(Opcode::kComplex, RowMajor(type, dims), {cosine, part(Opcode::kSine)});
}

// The dot of dimension d with the roots, back in its place.
Instruction* Transformed(DynamicArrays& a, Instruction* x, int64_t d, const Line& line) {
  HloWriter& w = a.w();
  Instruction* product = w.Dot(x, Roots(a, line, x->shape().type), d, 0);
  DimVector order;  // the new dimension is the last one
  for (int64_t k = 0; k < x->shape().rank(); ++k)
    order.push_back(k < d ? k : k == d ? x->shape().rank() - 1 : k - 1);
  return w.Transpose(product, order);
}

// A transform along each dimension as a product: no plan is made for a length that only the run
// knows.
void PadFft(DynamicArrays& a, Instruction* i) {
  HloWriter& w = a.w();
  const auto& attrs = i->attr<FftAttrs>();
  Instruction* x = i->operand(0);
  const int64_t rank = x->shape().rank();
  const int64_t first = rank - static_cast<int64_t>(attrs.fft_length.size());
  const bool inverse = attrs.fft_type == FftType::kIfft || attrs.fft_type == FftType::kIrfft;
  Sizes sizes = a.SizesOf(x);
  const ElementType type =
      inverse || attrs.fft_type == FftType::kFft ? x->shape().type : i->shape().type;
  Instruction* made = w.Convert(
      a.Filled(x, w.Integer(x->shape().type, 0), [&](int64_t d) { return d >= first; }), type);
  const auto transform = [&](int64_t d) {
    Line line{x->shape().dims[d], i->shape().dims[d], a.AtLeast(a.SizeOf(x, d), 1), inverse, false};
    if (d == rank - 1 && attrs.fft_type == FftType::kIrfft) {
      line.half = true;
      line.n = a.AtLeast(a.Plus(a.Times(a.Plus(a.SizeOf(x, d), -1), 2), line.out % 2), 1);
      if (sizes[d] != nullptr)
        sizes[d] = w.Binary(Opcode::kMultiply, line.n, a.AtMost(a.SizeOf(x, d), 1));
    } else if (d == rank - 1 && attrs.fft_type == FftType::kRfft && sizes[d] != nullptr) {
      // No numbers have no transform.
      sizes[d] = w.Binary(Opcode::kAdd, a.Over(sizes[d], 2), a.AtMost(sizes[d], 1));
    }
    made = Transformed(a, made, d, line);
  };
  // A real line is the first to be transformed, and the last to come back.
  if (!inverse) transform(rank - 1);
  for (int64_t d = first; d + 1 < rank; ++d) transform(d);
  if (inverse) transform(rank - 1);
  if (attrs.fft_type == FftType::kIrfft)
    made = a.rewriter().Add(Opcode::kReal, RetypedLike(made->shape(), i->shape().type), {made});
  a.Note(i, made, std::move(sizes));
}

bool IsSizeCall(const Instruction& i) {
  const std::string& target = i.attr<CustomCallAttrs>().target;
  if (target == "PadToStatic")
    return i.operand_count() == 1 && i.shape().IsTuple() &&
           i.shape().elements.size() == i.operand(0)->shape().dims.size() + 1 &&
           i.shape().elements[0].dims == i.operand(0)->shape().dims;
  return target == "SliceToDynamic" && i.shape().IsArray() &&
         i.operand_count() == i.shape().rank() + 1 && i.operand(0)->shape().dims == i.shape().dims;
}

// XLA's own names for the two borders: an array and its sizes, and the way back.
void PadSizeCall(DynamicArrays& a, Instruction* i) {
  Instruction* x = i->operand(0);
  if (i->attr<CustomCallAttrs>().target == "SliceToDynamic") {
    Sizes sizes;
    for (int d = 0; d < i->shape().rank(); ++d)
      sizes.push_back(i->shape().IsDynamic(d) ? a.Padded(i->operand(d + 1)) : nullptr);
    return a.Note(i, a.Padded(x), std::move(sizes));
  }
  std::vector<Instruction*> parts = {
      a.Filled(x, a.w().Integer(x->shape().type, 0), [](int64_t) { return true; })};
  for (int64_t d = 0; d < x->shape().rank(); ++d) parts.push_back(a.SizeOf(x, d));
  a.NoteParts(i, parts, std::vector<Sizes>(parts.size()));
}

constexpr PadRule kPadSolverRules[] = {
    {Opcode::kCholesky, Always, PadCholesky},
    {Opcode::kCustomCall, IsSizeCall, PadSizeCall},
    {Opcode::kFft, Always, PadFft},
    {Opcode::kTriangularSolve, Always, PadTriangularSolve},
};

}  // namespace

absl::Span<const PadRule> PadSolverRules() { return kPadSolverRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
