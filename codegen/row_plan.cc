// What a row kernel does: its passes, what it keeps from one to the next, and whether in vectors.
#include <algorithm>

#include "codegen/row_emitter_internal.h"
#include "ops/dim_lists.h"
#include "ops/eval_program.h"

namespace hlokit {
namespace {

// Values kept from one pass over a row to a later one take at most so many bytes.
constexpr int64_t kMostKeptBytes = 32 << 10;

// A vector register of the widest machines in f32; narrower ones take two or four.
constexpr int64_t kLanes = 16;

// Functions of many steps wait for themselves: in kernels that run long two vectors go beside each
// other.
bool WantsWideLanes(const RowPlan& plan) {
  const double work =
      static_cast<double>(plan.form.full.ElementCount()) * static_cast<double>(plan.body.size());
  const bool costly = std::any_of(plan.body.begin(), plan.body.end(), [&](const Instruction* i) {
    return IsCostly(*i) && plan.IsFull(i->shape());
  });
  return costly && work >= kLongWork && plan.form.length % (4 * kLanes) == 0;
}

void PlanKept(RowPlan& plan) {
  std::vector<absl::flat_hash_set<const Instruction*>> needed;
  for (int pass = 0; pass < plan.form.passes; ++pass) needed.push_back(NeededIn(plan, pass));
  int64_t bytes = 0;
  for (const Instruction* i : plan.body) {
    if (!IsCostly(*i) || i->shape().dims != plan.form.full.dims || !i->shape().IsRowMajor())
      continue;
    int first = -1, uses = 0;
    for (int pass = 0; pass < plan.form.passes; ++pass) {
      if (!needed[pass].contains(i)) continue;
      if (uses++ == 0) first = pass;
    }
    const int64_t size = plan.form.length * ByteWidth(i->shape().type);
    if (uses < 2 || bytes + size > kMostKeptBytes) continue;
    bytes += size;
    plan.kept.push_back({i, first});
  }
}

bool SortRoots(RowPlan& plan) {
  for (size_t r = 0; r < plan.e.roots.size(); ++r) {
    const Shape& shape = plan.e.shapes[r];
    if (!shape.IsRowMajor()) return false;
    if (shape.dims == plan.form.full.dims) {
      plan.full_roots.push_back(r);
    } else if (plan.form.IsRowShaped(shape)) {
      plan.row_roots.push_back(r);
    } else {
      return false;
    }
  }
  return true;
}

bool IsLaneType(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBF16 || type == ElementType::kF16 ||
         type == ElementType::kPred;
}

// Operations that are written the same for vectors and for single elements.
bool IsLaneOperation(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kCompare:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kDivide:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kRsqrt:
    case Opcode::kSelect:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

bool IsLeaf(const RowPlan& plan, const Instruction* i) {
  return std::any_of(plan.e.leaves.begin(), plan.e.leaves.end(),
                     [&](const Expression::Leaf& leaf) { return leaf.instruction == i; });
}

bool ReducesInLanes(const Instruction& i) {
  if (!i.shape().IsArray() || !IsLaneType(i.shape().type) || i.shape().type == ElementType::kPred)
    return false;
  if (RoundsSteps(i)) return false;  // one after the other
  const std::optional<Opcode> reducer = SimpleReducer(*i.to_apply());
  return reducer.has_value() && (*reducer == Opcode::kAdd || *reducer == Opcode::kMultiply ||
                                 *reducer == Opcode::kMaximum || *reducer == Opcode::kMinimum);
}

// Broadcasts of row values are made once a row; what lies along rows has to be in memory.
bool SpreadsInLanes(const RowPlan& plan, const Instruction& i) {
  const Instruction* from = i.operand(0);
  if (i.shape().dims != plan.form.full.dims || plan.IsFull(from->shape())) return false;
  if (!plan.IsAlongRow(i)) return true;
  return IsLeaf(plan, from) && from->shape().IsRowMajor() && IsLaneType(from->shape().type) &&
         i.attr<BroadcastAttrs>().dimensions.back() == plan.form.within[0] &&
         from->shape().dims.back() == plan.form.length;
}

bool GoesInLanes(const RowPlan& plan, const Instruction& i) {
  if (i.opcode() == Opcode::kReduce) return ReducesInLanes(i);
  const auto is_full = [&](const Instruction* x) { return plan.IsFull(x->shape()); };
  if (!is_full(&i))
    return i.shape().IsArray() && std::none_of(i.operands().begin(), i.operands().end(), is_full);
  if (!IsLaneType(i.shape().type)) return false;
  if (i.opcode() == Opcode::kBroadcast) return SpreadsInLanes(plan, i);
  for (const Instruction* operand : i.operands())
    if (!is_full(operand) || !IsLaneType(operand->shape().type)) return false;
  if (i.opcode() == Opcode::kReshape || i.opcode() == Opcode::kBitcast)
    return i.shape().type == i.operand(0)->shape().type;
  return IsLaneOperation(i.opcode());
}

bool GoesInPairs(const RowPlan& plan) {
  if (plan.form.length % (2 * plan.lanes) != 0 || !plan.kept.empty()) return false;
  for (size_t r : plan.full_roots)
    if (plan.e.shapes[r].type != ElementType::kBF16) return false;
  bool reads = false;
  for (const Expression::Leaf& leaf : plan.e.leaves) {
    if (!plan.IsFull(leaf.instruction->shape())) continue;
    if (leaf.instruction->shape().type != ElementType::kBF16) return false;
    reads = true;
  }
  return reads;
}

}  // namespace

bool IsCostly(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kTanh:
    case Opcode::kErf:
    case Opcode::kPower:
    case Opcode::kSine:
    case Opcode::kCosine:
      return !IsComplex(i.shape().type);
    default:
      return false;
  }
}

bool RowPlan::IsFull(const Shape& shape) const {
  return shape.IsArray() && shape.IsRowMajor() && shape.ElementCount() == form.full.ElementCount();
}

bool RowPlan::IsFullBroadcast(const Instruction& i) const {
  return i.opcode() == Opcode::kBroadcast && i.shape().dims == form.full.dims;
}

bool RowPlan::IsAlongRow(const Instruction& i) const {
  const Shape& from = i.operand(0)->shape();
  const DimVector& to = i.attr<BroadcastAttrs>().dimensions;
  for (int64_t d = 0; d < from.rank(); ++d)
    if (from.dims[d] != 1 && Contains(form.within, to[d])) return true;
  return false;
}

absl::flat_hash_set<const Instruction*> NeededIn(const RowPlan& plan, int pass) {
  std::vector<const Instruction*> work;
  for (const RowForm::Reduction& r : plan.form.reductions)
    if (r.pass == pass)
      work.insert(work.end(), r.reduce->operands().begin(), r.reduce->operands().end());
  if (pass + 1 == plan.form.passes)
    for (size_t r : plan.full_roots) work.push_back(plan.e.roots[r]);
  absl::flat_hash_set<const Instruction*> needed;
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (i->IsParameter() || i->opcode() == Opcode::kReduce || !needed.insert(i).second) continue;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return needed;
}

bool PlanLanes(RowPlan& plan) {
  if (plan.form.within.size() != 1 || plan.form.length % kLanes != 0) return false;
  for (const Instruction* i : plan.body)
    if (!GoesInLanes(plan, *i)) return false;
  for (const Expression::Leaf& leaf : plan.e.leaves) {
    const Shape& shape = leaf.instruction->shape();
    if (!shape.IsArray()) return false;
    if (shape.ElementCount() != plan.form.full.ElementCount()) continue;
    if (!plan.IsFull(shape) || !IsLaneType(shape.type)) return false;
  }
  plan.lanes = WantsWideLanes(plan) ? 2 * kLanes : kLanes;
  plan.pairs = GoesInPairs(plan);
  return true;
}

std::optional<RowPlan> PlanRows(const Expression& expression) {
  RowPlan plan;
  plan.e = expression;
  plan.body = Body(expression);
  const std::optional<RowForm> form = FindRowForm(plan.body);
  if (!form.has_value()) return std::nullopt;
  plan.form = *form;
  if (!SortRoots(plan)) return std::nullopt;
  for (const Instruction* i : plan.body) {
    bool depends = i->opcode() == Opcode::kReduce;
    for (const Instruction* operand : i->operands()) depends |= plan.dependent.contains(operand);
    if (depends) plan.dependent.insert(i);
  }
  PlanKept(plan);
  // Without work after a reduction on its own row the plain kernels do as well.
  const bool feeds_back = plan.form.passes > 2 || !plan.full_roots.empty();
  if (!PlanLanes(plan) && !feeds_back && plan.form.reductions.size() == 1) return std::nullopt;
  return plan;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
