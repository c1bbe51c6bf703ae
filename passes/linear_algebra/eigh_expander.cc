// eigh_expander: expands the Eigh custom call into Jacobi iterations.
// The custom call Eigh of real matrices (of which the lower triangle counts, the upper one where
// its configuration begins with 0) becomes Jacobi's method: fifteen sweeps over all pairs of rows,
// each pair rotated so that the elements between them vanish, in one loop; then the eigenvalues are
// sorted, their vectors with them. Equal up to rounding and the signs of the vectors. Cost: as many
// instructions whatever the size; 8 n^2 rounds of n work.
//   each pair p, q: a' = J^T a J with a'[p,q] = a'[q,p] = 0
#include "absl/strings/match.h"
#include "passes/framework/pass.h"
#include "passes/linear_algebra/matrix_writer.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

constexpr int64_t kSweeps = 15;  // the error falls quadratically after a few
constexpr int64_t kMaxPairs = int64_t{1} << 20;

using State = absl::Span<Instruction* const>;

// Cosine and sine, [batch], of the rotation that makes element (p, q) vanish.
struct Rotation {
  Instruction *c, *s;
};

Rotation Between(HloWriter& w, Instruction* a, Instruction* p, Instruction* q) {
  MatrixWriter m(w);
  Instruction* row = m.Row(a, p);
  Instruction* pp = m.Element(row, p);
  Instruction* pq = m.Element(row, q);
  Instruction* qq = m.Element(m.Row(a, q), q);
  Instruction* zero = w.FillNumber(pq->shape(), 0);
  Instruction* one = w.FillNumber(pq->shape(), 1);
  Instruction* none = w.Compare(pq, zero, ComparisonDirection::kEq);
  Instruction* gap = w.Binary(Opcode::kSubtract, qq, pp);
  Instruction* twice = w.Select(none, one, w.Binary(Opcode::kAdd, pq, pq));
  Instruction* theta = w.Binary(Opcode::kDivide, gap, twice);
  auto root_of_one_and = [&](Instruction* x) {
    return w.Unary(Opcode::kSqrt, w.Binary(Opcode::kAdd, w.Binary(Opcode::kMultiply, x, x), one));
  };
  Instruction* size = w.Binary(Opcode::kAdd, w.Unary(Opcode::kAbs, theta), root_of_one_and(theta));
  Instruction* tangent = w.Binary(Opcode::kDivide, one, size);
  Instruction* negative = w.Compare(theta, zero, ComparisonDirection::kLt);
  tangent = w.Select(negative, w.Unary(Opcode::kNegate, tangent), tangent);
  tangent = w.Select(none, zero, tangent);
  Instruction* c = w.Binary(Opcode::kDivide, one, root_of_one_and(tangent));
  return {c, w.Binary(Opcode::kMultiply, tangent, c)};
}

// c x - s y and s x + c y
std::pair<Instruction*, Instruction*> Rotated(HloWriter& w, Rotation r, Instruction* x,
                                              Instruction* y) {
  MatrixWriter m(w);
  const int64_t n = x->shape().dims[1];
  Instruction* c = m.AcrossRow(r.c, n);
  Instruction* s = m.AcrossRow(r.s, n);
  auto times = [&](Instruction* a, Instruction* b) { return w.Binary(Opcode::kMultiply, a, b); };
  return {w.Binary(Opcode::kSubtract, times(c, x), times(s, y)),
          w.Binary(Opcode::kAdd, times(s, x), times(c, y))};
}

Instruction* RotateColumns(HloWriter& w, Instruction* a, Rotation r, Instruction* p,
                           Instruction* q) {
  MatrixWriter m(w);
  const auto [x, y] = Rotated(w, r, m.Column(a, p), m.Column(a, q));
  return m.WithColumn(m.WithColumn(a, x, p), y, q);
}

Instruction* RotateRows(HloWriter& w, Instruction* a, Rotation r, Instruction* p, Instruction* q) {
  MatrixWriter m(w);
  const auto [x, y] = Rotated(w, r, m.Row(a, p), m.Row(a, q));
  return m.WithRow(m.WithRow(a, x, p), y, q);
}

Instruction* Entry(HloWriter& w, Instruction* table, Instruction* i) {
  return w.Reshape(w.DynamicSlice(table, {i}, {1}), {});
}

// The state: a, the vectors, and the pairs in their order.
std::vector<Instruction*> Rotate(HloWriter& w, Instruction* k, State state) {
  const int64_t pairs = state[2]->shape().dims[0];
  Instruction* i = w.WithInteger(Opcode::kRemainder, k, pairs);
  Instruction* p = Entry(w, state[2], i);
  Instruction* q = Entry(w, state[3], i);
  const Rotation r = Between(w, state[0], p, q);
  Instruction* a = RotateRows(w, RotateColumns(w, state[0], r, p, q), r, p, q);
  return {a, RotateColumns(w, state[1], r, p, q), state[2], state[3]};
}

Instruction* Symmetric(MatrixWriter& m, Instruction* a, bool lower) {
  HloWriter& w = m.writer();
  const DimVector& dims = a->shape().dims;
  Instruction* row = w.Iota(ElementType::kS32, dims, 1);
  Instruction* column = w.Iota(ElementType::kS32, dims, 2);
  Instruction* given =
      w.Compare(row, column, lower ? ComparisonDirection::kGe : ComparisonDirection::kLe);
  return w.Select(given, a, m.Transposed(a));
}

// (value, vector) rows by rising value.
std::pair<Instruction*, Instruction*> Sorted(HloWriter& w, Instruction* values,
                                             Instruction* vectors) {
  const DimVector dims = vectors->shape().dims;  // [batch, element, which]
  const Shape scalar = RowMajor(values->shape().type, {});
  Computation* less = values->module()->AddComputation("eigenvalue_less");
  std::vector<Instruction*> sides;
  for (int k = 0; k < 4; ++k) sides.push_back(less->AddParameter(k, scalar));
  less->set_root(less->Add(Opcode::kCompare, RowMajor(ElementType::kPred, {}), {sides[0], sides[1]},
                           CompareAttrs{ComparisonDirection::kLt}));
  Instruction* keys = w.Broadcast(values, dims, {0, 2});
  Instruction* sort =
      w.rewriter().Add(Opcode::kSort, Shape::Tuple({keys->shape(), vectors->shape()}),
                       {keys, vectors}, SortAttrs{{2}, true});
  sort->set_called({less});
  Instruction* first = w.SliceOf(w.Part(sort, 0), 1, 0, 1);
  return {w.Reshape(first, {dims[0], dims[2]}), w.Part(sort, 1)};
}

absl::StatusOr<Instruction*> ExpandEigh(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kCustomCall || i->attr<CustomCallAttrs>().target != "Eigh" ||
      i->shape().HasDynamicDims() || i->operand_count() != 1 || !i->shape().IsTuple() ||
      i->shape().elements.size() != 2)
    return nullptr;
  const Shape& shape = i->operand(0)->shape();
  const int64_t n = shape.dims.back(), pairs = n * (n - 1) / 2;
  if (!IsFloat(shape.type) || BitWidth(shape.type) < 32 || shape.ElementCount() == 0 ||
      pairs == 0 || pairs > kMaxPairs)
    return nullptr;
  HloWriter w(r);
  MatrixWriter m(w);
  Instruction* a =
      Symmetric(m, m.Stacked(i->operand(0)), !absl::StartsWith(i->backend_config(), "0"));
  const DimVector dims = a->shape().dims;
  Instruction* diagonal = w.Compare(w.Iota(ElementType::kS32, dims, 1),
                                    w.Iota(ElementType::kS32, dims, 2), ComparisonDirection::kEq);
  Instruction* identity = m.Masked(diagonal, w.FillNumber(a->shape(), 1));
  std::vector<int64_t> first, second;
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = p + 1; q < n; ++q) {
      first.push_back(p);
      second.push_back(q);
    }
  const auto after = CountedLoop(
      w, "eigh", kSweeps * pairs,
      {a, identity, w.List(ElementType::kS32, first), w.List(ElementType::kS32, second)}, Rotate);
  Instruction* values = w.Reduce(m.Masked(diagonal, after[0]), w.Number(shape.type, 0), {1},
                                 MakeReducer(*i->module(), Opcode::kAdd, shape.type));
  const auto [sorted, vectors] = Sorted(w, values, after[1]);
  return w.Tuple({m.Unstacked(vectors, i->shape().elements[0].dims),
                  w.Reshape(sorted, i->shape().elements[1].dims)});
}

}  // namespace

std::unique_ptr<Pass> CreateEighExpander() { return MakeExpander("eigh_expander", ExpandEigh); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
