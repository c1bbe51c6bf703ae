// select_and_scatter_expander: expands select-and-scatter into reduce-window and scatter.
// A reduce-window over the operand and its coordinates finds what each window selects (-1: padding,
// which never wins over an element), a scatter adds the sources there. Exact but for the order of
// sums. Cost: linear. The computation that chose stays, though nothing calls it, as in XLA.
#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr ElementType kIndex = ElementType::kS32;

// (value, coordinates) x (value, coordinates) -> the one that `select` prefers.
Computation* MakeWindowSelect(const Computation& select, ElementType type, int rank) {
  Computation* c = select.module()->AddComputation(absl::StrCat(select.name(), ".reduce_window"));
  std::vector<Instruction*> lhs, rhs;
  for (auto* side : {&lhs, &rhs})
    for (int k = 0; k <= rank; ++k)
      side->push_back(c->AddParameter(
          c->parameter_count(), RowMajor(k == 0 ? type : kIndex, {}),
          absl::StrCat(k == 0 ? "operand" : "iota", side == &lhs || k == 1 ? "_lhs" : "_rhs")));
  Rewriter r(*c);
  HloWriter w(r);
  Instruction* wins = IsElementwiseScalar(select)
                          ? InlineElementwise(w, select, {lhs[0], rhs[0]})[0]
                          : w.Call(const_cast<Computation*>(&select), {lhs[0], rhs[0]});
  Instruction* none = w.Integer(kIndex, -1);
  Instruction* is_element = w.Compare(lhs[1], none, ComparisonDirection::kNe);
  Instruction* other_is_none =
      w.Unary(Opcode::kNot, w.Compare(rhs[1], none, ComparisonDirection::kNe));
  Instruction* left =
      w.Binary(Opcode::kOr, w.Binary(Opcode::kAnd, wins, is_element), other_is_none);
  std::vector<Instruction*> chosen;
  for (int k = 0; k <= rank; ++k) chosen.push_back(w.Select(left, lhs[k], rhs[k]));
  c->set_root(w.Tuple(chosen));
  return c;
}

// Where each window's choice lies, as index vectors in a last dimension.
Instruction* Selected(HloWriter& w, const Instruction& i) {
  Instruction* operand = i.operand(0);
  const Shape& shape = operand->shape();
  std::vector<Instruction*> operands = {operand};
  for (int d = 0; d < shape.rank(); ++d)
    operands.push_back(w.rewriter().Add(Opcode::kIota, shape.WithType(kIndex), {}, IotaAttrs{d}));
  operands.push_back(i.operand(2));
  operands.resize(operands.size() + shape.rank(), w.Integer(kIndex, -1));
  const Shape& windows = i.operand(1)->shape();
  std::vector<Shape> results = {windows.WithType(shape.type)};
  results.resize(shape.rank() + 1, windows.WithType(kIndex));
  Instruction* found = w.rewriter().Add(Opcode::kReduceWindow, Shape::Tuple(results), operands,
                                        WindowAttrs{i.attr<WindowAttrs>().window});
  found->set_called({MakeWindowSelect(*i.called(0), shape.type, shape.rank())});
  DimVector column = windows.dims;
  column.push_back(1);
  std::vector<Instruction*> columns;
  for (int d = 0; d < shape.rank(); ++d) columns.push_back(w.Reshape(w.Part(found, d + 1), column));
  Shape indices = columns[0]->shape();
  indices.dims.back() = shape.rank();
  return w.rewriter().Add(Opcode::kConcatenate, indices, columns, DimensionsAttrs{{shape.rank()}});
}

absl::StatusOr<Instruction*> ExpandSelectAndScatter(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kSelectAndScatter || i->shape().HasDynamicDims()) return nullptr;
  const int rank = i->shape().rank();
  if (rank == 0) return nullptr;
  HloWriter w(r);
  ScatterAttrs attrs;
  for (int d = 0; d < rank; ++d) {
    attrs.inserted_window_dims.push_back(d);
    attrs.scatter_dims_to_operand_dims.push_back(d);
  }
  attrs.index_vector_dim = rank;
  Instruction* indices = Selected(w, *i);
  Instruction* start = w.Fill(i->shape(), i->operand(2));
  Instruction* scatter =
      r.Add(Opcode::kScatter, i->shape(), {start, indices, i->operand(1)}, std::move(attrs));
  scatter->set_called({i->called(1)});
  return scatter;
}

}  // namespace

std::unique_ptr<Pass> CreateSelectAndScatterExpander() {
  return MakeExpander("select_and_scatter_expander", ExpandSelectAndScatter);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
