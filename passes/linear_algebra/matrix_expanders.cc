// Solves and QR factorizations of matrices as loops of simple operations.
//   Solve, row i:        x[i] = (b[i] - t[i,:] x) / t[i,i], with x zero where it is not known yet
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/linear_algebra/matrix_writer.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;
using State = absl::Span<Instruction* const>;

// The triangle t and right sides b, given as t x = b.
struct Solve {
  bool lower, unit_diagonal;

  std::vector<Instruction*> Row(HloWriter& w, Instruction* step, State state) const {
    MatrixWriter m(w);
    Instruction* t = state[0];
    Instruction* b = state[1];
    Instruction* x = state[2];
    const int64_t n = t->shape().dims[1], columns = b->shape().dims[2];
    Instruction* i =
        lower ? step : w.Binary(Opcode::kSubtract, w.Integer(step->shape().type, n - 1), step);
    Instruction* row = m.Row(t, i);
    Instruction* rest = w.Binary(Opcode::kSubtract, m.Row(b, i), m.VectorTimes(row, x));
    if (!unit_diagonal)
      rest = w.Binary(Opcode::kDivide, rest, m.AcrossRow(m.Element(row, i), columns));
    return {t, b, m.WithRow(x, rest, i)};
  }
};

Made ExpandTriangularSolve(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kTriangularSolve || i->shape().HasDynamicDims() ||
      i->shape().ElementCount() == 0)
    return nullptr;
  const auto& attrs = i->attr<TriangularSolveAttrs>();
  HloWriter w(r);
  MatrixWriter m(w);
  Instruction* t = m.Triangle(m.Stacked(i->operand(0)), attrs.lower);
  Instruction* b = m.Stacked(i->operand(1));
  const bool adjoint = attrs.transpose_a == TriangularTranspose::kAdjoint;
  bool transposed = adjoint || attrs.transpose_a == TriangularTranspose::kTranspose;
  if (adjoint) t = m.Conjugate(t);
  if (!attrs.left_side) {  // x t = b is t' x' = b'
    transposed = !transposed;
    b = m.Transposed(b);
  }
  if (transposed) t = m.Transposed(t);
  const Solve solve{attrs.lower != transposed, attrs.unit_diagonal};
  const auto after = CountedLoop(
      w, "triangular_solve", t->shape().dims[1], {t, b, w.FillInteger(b->shape(), 0)},
      [&](HloWriter& inner, Instruction* k, State state) { return solve.Row(inner, k, state); });
  return m.Unstacked(attrs.left_side ? after[2] : m.Transposed(after[2]), i->shape().dims);
}

// v and factor of the reflection that takes column j to a multiple of unit vector j: v[j] = 1, zero
// above; and that multiple.
struct Reflection {
  Instruction *v, *factor, *beta;
};

Reflection Reflect(HloWriter& w, Instruction* column, Instruction* j) {
  MatrixWriter m(w);
  const int64_t rows = column->shape().dims[1];
  const ElementType type = column->shape().type;
  Computation* add = MakeReducer(*j->module(), Opcode::kAdd, type);
  Instruction* below = m.Position(column->shape(), 1, j, ComparisonDirection::kGt);
  Instruction* at = m.Position(column->shape(), 1, j, ComparisonDirection::kEq);
  Instruction* tail = m.Masked(below, column);
  Instruction* alpha = m.Element(column, j);
  Instruction* zero = w.FillNumber(alpha->shape(), 0);
  Instruction* one = w.FillNumber(alpha->shape(), 1);
  Instruction* tail_squares =
      w.Reduce(w.Binary(Opcode::kMultiply, tail, tail), w.Number(type, 0), {1}, add);
  Instruction* norm =
      w.Unary(Opcode::kSqrt,
              w.Binary(Opcode::kAdd, w.Binary(Opcode::kMultiply, alpha, alpha), tail_squares));
  Instruction* negative = w.Compare(alpha, zero, ComparisonDirection::kLt);
  Instruction* nothing = w.Compare(tail_squares, zero, ComparisonDirection::kEq);
  Instruction* beta =
      w.Select(nothing, alpha, w.Select(negative, norm, w.Unary(Opcode::kNegate, norm)));
  Instruction* gap = w.Binary(Opcode::kSubtract, beta, alpha);
  Instruction* factor =
      w.Select(nothing, zero, w.Binary(Opcode::kDivide, gap, w.Select(nothing, one, beta)));
  Instruction* scale = w.Select(nothing, one, w.Unary(Opcode::kNegate, gap));
  Instruction* v = w.Binary(Opcode::kDivide, tail, m.AcrossRow(scale, rows));
  v = w.Select(at, w.FillNumber(v->shape(), 1), v);
  return {v, factor, beta};
}

// (I - factor v v') x
Instruction* Apply(HloWriter& w, Instruction* x, Instruction* v, Instruction* factor) {
  MatrixWriter m(w);
  Instruction* along = m.VectorTimes(v, x);
  Instruction* scaled =
      w.Binary(Opcode::kMultiply, along, m.AcrossRow(factor, along->shape().dims[1]));
  return w.Binary(Opcode::kSubtract, x, m.Outer(v, scaled));
}

std::vector<Instruction*> QrColumn(HloWriter& w, Instruction* j, State state) {
  MatrixWriter m(w);
  Instruction* a = state[0];
  Instruction* column = m.Column(a, j);
  const Reflection h = Reflect(w, column, j);
  // Columns before j are done: they hold reflectors.
  Instruction* later = m.Position(a->shape(), 2, j, ComparisonDirection::kGt);
  a = w.Select(later, Apply(w, a, h.v, h.factor), a);
  Instruction* below = m.Position(column->shape(), 1, j, ComparisonDirection::kGt);
  Instruction* at = m.Position(column->shape(), 1, j, ComparisonDirection::kEq);
  Instruction* kept = w.Select(below, h.v, column);
  kept = w.Select(at, m.AcrossRow(h.beta, column->shape().dims[1]), kept);
  Instruction* taus = state[1];
  taus = w.DynamicUpdateSlice(taus, w.Reshape(h.factor, {taus->shape().dims[0], 1}),
                              {w.Integer(ElementType::kS32, 0), j});
  return {m.WithColumn(a, kept, j), taus};
}

bool IsCallOf(const Instruction* i, absl::string_view target) {
  return i->opcode() == Opcode::kCustomCall && i->attr<CustomCallAttrs>().target == target &&
         !i->shape().HasDynamicDims();
}

Made ExpandQr(Instruction* i, Rewriter& r) {
  HloWriter w(r);
  MatrixWriter m(w);
  if (!i->shape().IsTuple() || i->shape().elements.size() != 2 || i->operand_count() != 1 ||
      !IsFloat(i->operand(0)->shape().type) || i->shape().elements[0].ElementCount() == 0)
    return nullptr;
  Instruction* a = m.Stacked(i->operand(0));
  const DimVector dims = a->shape().dims;
  const Shape& taus = i->shape().elements[1];
  Instruction* none = w.FillInteger(RowMajor(taus.type, {dims[0], taus.dims.back()}), 0);
  const auto after = CountedLoop(w, "qr", std::min(dims[1], dims[2]), {a, none}, QrColumn);
  return w.Tuple(
      {m.Unstacked(after[0], i->shape().elements[0].dims), w.Reshape(after[1], taus.dims)});
}

// The first columns of the product of the reflections that `a` holds below its diagonal.
Made ExpandProduct(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2 || !i->shape().IsArray() || !IsFloat(i->shape().type) ||
      i->shape().ElementCount() == 0)
    return nullptr;
  HloWriter w(r);
  MatrixWriter m(w);
  Instruction* a = m.Stacked(i->operand(0));
  const DimVector dims = a->shape().dims;
  const int64_t count = i->operand(1)->shape().dims.back();
  Instruction* taus = w.Reshape(i->operand(1), {dims[0], count});
  Instruction* row = w.Iota(ElementType::kS32, dims, 1);
  Instruction* diagonal =
      w.Compare(row, w.Iota(ElementType::kS32, dims, 2), ComparisonDirection::kEq);
  Instruction* identity = m.Masked(diagonal, w.FillNumber(a->shape(), 1));
  auto round = [&](HloWriter& inner, Instruction* k, State state) {
    MatrixWriter n(inner);
    Instruction* j = inner.Binary(Opcode::kSubtract, inner.Integer(k->shape().type, count - 1), k);
    Instruction* column = n.Column(state[0], j);
    Instruction* below = n.Position(column->shape(), 1, j, ComparisonDirection::kGt);
    Instruction* at = n.Position(column->shape(), 1, j, ComparisonDirection::kEq);
    Instruction* v =
        inner.Select(at, inner.FillNumber(column->shape(), 1), n.Masked(below, column));
    return std::vector{state[0], state[1], Apply(inner, state[2], v, n.Element(state[1], j))};
  };
  const auto after = CountedLoop(w, "householder_product", count, {a, taus, identity}, round);
  return m.Unstacked(after[2], i->shape().dims);
}

Made ExpandQrCalls(Instruction* i, Rewriter& r) {
  if (IsCallOf(i, "Qr")) return ExpandQr(i, r);
  if (IsCallOf(i, "ProductOfElementaryHouseholderReflectors")) return ExpandProduct(i, r);
  return nullptr;
}

}  // namespace

// triangular_solve_expander.
std::unique_ptr<Pass> CreateTriangularSolveExpander() {
  return MakeExpander("triangular_solve_expander", ExpandTriangularSolve);
}

// qr_expander: custom calls Qr (Householder's reflectors below R, and their factors) and
// ProductOfElementaryHouseholderReflectors, of real matrices.
std::unique_ptr<Pass> CreateQrExpander() { return MakeExpander("qr_expander", ExpandQrCalls); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
