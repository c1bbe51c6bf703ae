// Classes of instructions for fusion: what may be fused, what costs nothing to compute again, and
// how often an element is read.
//   f32[4,6] reshaped to f32[24] needs i / 6 and i % 6 (ReshapeDivides), the inverse does not.
#include "passes/fusions/fusion_rules.h"

#include <algorithm>

#include "analysis/emittable.h"
#include "analysis/instruction_cost.h"
#include "analysis/row_scan.h"
#include "ir/computation.h"
#include "ir/op_facts.h"
#include "passes/rewrite/control_edges.h"

namespace hlokit {
namespace {

constexpr int64_t kStridedBytes = 64 << 10;

bool PlainArray(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDims() && shape.IsRowMajor();
}

bool IsScalarFunction(const Computation& f) {
  for (const Instruction* i : f.Instructions()) {
    if (i->IsParameter() || i->opcode() == Opcode::kTuple) continue;
    if (i->IsConstant() ? i->literal() == nullptr : !CanFuse(*i)) return false;
  }
  return true;
}

bool HasPlainArrays(const Instruction& i) {
  for (const Instruction* operand : i.operands())
    if (!PlainArray(operand->shape())) return false;
  if (!i.shape().IsTuple()) return PlainArray(i.shape());
  for (const Shape& part : i.shape().elements)
    if (!PlainArray(part)) return false;
  return true;
}

}  // namespace

bool IsPlain(const Instruction& i) {
  return i.control_predecessors().empty() && i.control_successors().empty() && HasPlainArrays(i);
}

bool CanFuse(const Instruction& i) {
  if (!IsPlain(i)) return false;
  switch (i.opcode()) {
    case Opcode::kReduce:
      return IsScalarFunction(*i.to_apply());
    case Opcode::kBitcast:
      return IsReshape(i);
    case Opcode::kBitcastConvert:
      return BitWidth(i.shape().type) == BitWidth(i.operand(0)->shape().type) &&
             !IsSubByte(i.shape().type) && !IsComplex(i.shape().type) &&
             !IsComplex(i.operand(0)->shape().type);
    case Opcode::kConstant:
    case Opcode::kIota:
      return CanEmitElement(i);
    default:
      return (HasTrait(i.opcode(), kElementwise) || HasTrait(i.opcode(), kMovesData)) &&
             CanEmitElement(i);
  }
}

bool IsFree(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kConstant:
    case Opcode::kIota:
      return true;
    case Opcode::kBroadcast:
      return i.operand(0)->shape().IsScalar() || i.operand(0)->opcode() == Opcode::kIota;
    default:
      return false;
  }
}

bool IsTrivial(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBitcast:
      return IsReshape(i);
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kBitcastConvert:
      return true;
    case Opcode::kTranspose:
      return !IsStridedTranspose(i);
    default:
      return IsFree(i);
  }
}

bool IsCheapElementwise(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      return !IsComplex(i.shape().type);
    case Opcode::kNegate:
    case Opcode::kAbs:
    case Opcode::kNot:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kCompare:
    case Opcode::kSelect:
    case Opcode::kClamp:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kComplex:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kIsFinite:
    case Opcode::kBitcastConvert:
      return true;
    default:
      return false;
  }
}

double WorkPerElement(const Instruction& i) {
  if (IsFree(i)) return 0;
  switch (Facts(i.opcode()).cost) {
    case CostClass::kFree:
    case CostClass::kMovement:
      return 2;
    case CostClass::kIndexing:
      return 4;
    case CostClass::kDivision:
      return 8;
    case CostClass::kFunction:
      return 16;
    case CostClass::kLongFunction:
      return 40;
    case CostClass::kSums:
      return static_cast<double>(i.operand(0)->shape().ElementCount()) /
             static_cast<double>(ResultElements(i));
    default:
      return std::max(1.0, CostOf(i).flops / static_cast<double>(ResultElements(i)));
  }
}

int64_t ResultElements(const Instruction& i) {
  const Shape& shape = i.shape().IsTuple() ? i.shape().elements[0] : i.shape();
  return std::max<int64_t>(1, shape.ElementCount());
}

double ReadsPerElement(const Instruction& user, int64_t o) {
  const Instruction& operand = *user.operand(o);
  const double ratio =
      static_cast<double>(ResultElements(operand)) / static_cast<double>(ResultElements(user));
  switch (user.opcode()) {
    case Opcode::kReduce:
      return o < user.operand_count() / 2 ? ratio : 1;
    case Opcode::kPad:
    case Opcode::kConcatenate:
      return operand.shape().IsScalar() ? 1 : std::min(1.0, ratio);
    case Opcode::kReduceWindow: {
      if (RowScanOf(user)) return 1;
      double window = 1;
      for (const WindowDim& d : user.attr<WindowAttrs>().window)
        window *= static_cast<double>(d.size);
      return o < user.operand_count() / 2 ? window : 1;
    }
    case Opcode::kScatter: {
      constexpr double kSearches = 16;  // each element looks for its updates
      return o == user.operand_count() / 2 ? kSearches * ratio : ratio;
    }
    case Opcode::kGather:
      if (o == 0) return 1;
      return static_cast<double>(
          std::max<size_t>(1, user.attr<GatherAttrs>().start_index_map.size()));
    default:
      return 1;
  }
}

bool ReadsSameIndex(const Instruction& user, int64_t o) {
  return HasTrait(user.opcode(), kElementwise) &&
         user.operand(o)->shape().dims == user.shape().dims;
}

bool IsReshape(const Instruction& i) {
  if (i.opcode() == Opcode::kReshape) return true;
  return i.opcode() == Opcode::kBitcast && i.shape().IsArray() && i.operand(0)->shape().IsArray() &&
         i.shape().type == i.operand(0)->shape().type &&
         i.shape().ElementCount() == i.operand(0)->shape().ElementCount();
}

bool ReshapeDivides(const Shape& from, const Shape& to) {
  if (from.ElementCount() == 0) return true;
  int64_t a = 0, b = 0;
  while (a < from.rank() && b < to.rank()) {
    int64_t x = from.dims[a], y = to.dims[b], spanned = from.dims[a] != 1;
    ++a, ++b;
    while (x != y) {
      if (x < y) {
        spanned += from.dims[a] != 1;
        x *= from.dims[a++];
      } else {
        y *= to.dims[b++];
      }
    }
    if (spanned > 1) return true;
  }
  return false;
}

bool IsStridedTranspose(const Instruction& i) {
  if (i.opcode() != Opcode::kTranspose || i.shape().ByteSize() <= kStridedBytes) return false;
  const DimVector& dims = i.attr<DimensionsAttrs>().dimensions;
  for (int64_t d = i.shape().rank() - 1; d >= 0; --d) {
    if (i.shape().dims[d] == 1) continue;
    // The fastest dimension of the result must be the operand's, but for dimensions of size one.
    for (int64_t s = dims[d] + 1; s < i.shape().rank(); ++s)
      if (i.operand(0)->shape().dims[s] != 1) return true;
    return false;
  }
  return false;
}

bool IsColumnReduce(const Instruction& i) {
  if (i.opcode() != Opcode::kReduce) return false;
  const DimVector& reduced = i.attr<DimensionsAttrs>().dimensions;
  const Shape& from = i.operand(0)->shape();
  for (int64_t d = from.rank() - 1; d >= 0; --d)
    if (from.dims[d] != 1) return std::find(reduced.begin(), reduced.end(), d) == reduced.end();
  return false;
}

Instruction* OnlyLoopOf(const Instruction& value) {
  if (value.users().empty()) return nullptr;
  Instruction* const user = value.users()[0];
  for (const Instruction* other : value.users())
    if (other != user) return nullptr;
  const bool is_loop = user->opcode() == Opcode::kFusion
                           ? user->attr<FusionAttrs>().kind == FusionKind::kLoop
                           : CanFuse(*user) && user->shape().IsArray();
  return is_loop && CanEmitKernels(*user) && !HasControlEdges(*user) ? user : nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
