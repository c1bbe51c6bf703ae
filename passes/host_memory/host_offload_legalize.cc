// Programs in forms that host-offloader takes.
//
// Copies, slices and broadcasts around moves between host and device.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/async_body.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool HasNoOtherUser(const Instruction* x) {
  return x->users().size() == 1 && !x->IsRoot() && x->control_successors().empty();
}

Made CopyBeforeMove(Instruction* i, Rewriter& r) {
  Instruction* move = i->operand(0);
  if (!IsUnaryCallOf(move, kMoveToHost) || !HasNoOtherUser(move)) return nullptr;
  Instruction* copy = r.Clone(i, i->shape(), {move->operand(0)});
  return r.Clone(move, i->shape(), {copy});
}

Made CopyBehindMove(Instruction* i, Rewriter& r) {
  Instruction* copy = i->operand(0);
  Instruction* moved = r.Clone(i, copy->operand(0)->shape(), {copy->operand(0)});
  moved->set_name(i->name());  // whose place it takes
  return r.Clone(copy, i->shape(), {moved});
}

// The dimensions of more than one element, from the slowest to the fastest in memory, by their
// number among those.
DimVector LongOrder(const Shape& shape) {
  DimVector number(shape.rank(), -1), order;
  int64_t next = 0;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] != 1) number[d] = next++;
  const DimVector& minor = shape.MinorToMajor();
  for (size_t k = minor.size(); k-- > 0;)
    if (number[minor[k]] >= 0) order.push_back(number[minor[k]]);
  return order;
}

DimVector LongDims(const Shape& shape) {
  DimVector dims;
  for (const int64_t size : shape.dims)
    if (size != 1) dims.push_back(size);
  return dims;
}

// `shape` in the order of `like`, which differs in dimensions of one element alone; these come
// first in memory.
Shape InOrderOf(const Shape& like, Shape shape) {
  DimVector places, order;
  for (int64_t d = 0; d < shape.rank(); ++d) (shape.dims[d] == 1 ? order : places).push_back(d);
  for (const int64_t k : LongOrder(like)) order.push_back(places[k]);
  shape.layout = like.layout;
  shape.layout.minor_to_major.assign(order.rbegin(), order.rend());
  return shape;
}

// bitcast(copy(x)) where the bitcast only takes or gives dimensions of one element.
Made CopyBehindBitcastAndMove(Instruction* i, Rewriter& r) {
  const Instruction *bitcast = i->operand(0), *copy = bitcast->operand(0);
  if (copy->opcode() != Opcode::kCopy || !HasNoOtherUser(copy) || !copy->shape().IsArray() ||
      copy->shape().type != bitcast->shape().type ||
      LongDims(copy->shape()) != LongDims(bitcast->shape()) ||
      LongOrder(copy->shape()) != LongOrder(bitcast->shape()))
    return nullptr;
  Instruction* x = copy->operand(0);
  Instruction* cast = r.Clone(bitcast, InOrderOf(x->shape(), bitcast->shape()), {x});
  Instruction* moved = r.Clone(i, cast->shape(), {cast});
  moved->set_name(i->name());
  return r.Clone(copy, i->shape(), {moved});
}

Made SliceDynamically(Instruction* i, Rewriter& r) {
  Instruction* slice = i->operand(0);
  HloWriter w(r);
  std::vector<Instruction*> operands = {slice->operand(0)};
  DynamicSliceAttrs attrs;
  for (const auto& dim : slice->attr<SliceAttrs>().slice) {
    if (dim.stride != 1) return nullptr;
    operands.push_back(w.Integer(ElementType::kS32, dim.start));
    attrs.dynamic_slice_sizes.push_back(dim.limit - dim.start);
  }
  Instruction* read = r.Add(Opcode::kDynamicSlice, slice->shape(), operands, std::move(attrs));
  return r.Clone(i, i->shape(), {read});
}

bool TakesMovedUpdate(const Instruction* update, const Instruction* into) {
  return update->opcode() == Opcode::kDynamicUpdateSlice && update->operand(0) == into &&
         IsUnaryCallOf(update->operand(1), kMoveToHost);
}

Made OwnBroadcast(Instruction* i, Rewriter& r) {
  Instruction* into = i->operand(0);
  if (into->opcode() != Opcode::kBroadcast || !TakesMovedUpdate(i, into)) return nullptr;
  const auto others =
      std::count_if(into->users().begin(), into->users().end(),
                    [&](const Instruction* u) { return TakesMovedUpdate(u, into); });
  if (others < 2) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  operands[0] = r.Clone(into, into->shape(), into->operands());
  return r.Clone(i, i->shape(), operands);
}

Made Legalize(Instruction* i, Rewriter& r) {
  if (i->opcode() == Opcode::kCopy) return CopyBeforeMove(i, r);
  if (i->opcode() == Opcode::kDynamicUpdateSlice) return OwnBroadcast(i, r);
  if (!IsUnaryCallOf(i, kMoveToDevice) || !HasNoOtherUser(i->operand(0))) return nullptr;
  if (i->operand(0)->opcode() == Opcode::kCopy) return CopyBehindMove(i, r);
  if (i->operand(0)->opcode() == Opcode::kBitcast) return CopyBehindBitcastAndMove(i, r);
  return i->operand(0)->opcode() == Opcode::kSlice ? SliceDynamically(i, r) : nullptr;
}

Made ElideMoves(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kAsyncStart ||
      i->attr<AsyncAttrs>().async_execution_thread != kHostThread)
    return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  bool moves = false;
  for (Instruction*& operand : operands) {
    if (!IsUnaryCallOf(operand, kMoveToHost) ||
        !SameShape(operand->shape(), operand->operand(0)->shape()))
      continue;
    operand = operand->operand(0);
    moves = true;
  }
  return moves ? r.Clone(i, i->shape(), operands) : nullptr;
}

Made TransferAsync(Instruction* i, Rewriter& r) {
  if (!i->shape().IsArray() || i->operand_count() == 0 || !i->operand(0)->shape().IsArray())
    return nullptr;
  const int64_t to = SpaceOf(i->shape()), from = SpaceOf(i->operand(0)->shape());
  if (i->opcode() == Opcode::kCopy && to != from && (to == kHostSpace || from == kHostSpace)) {
    const Shape started =
        Shape::Tuple({i->shape(), i->operand(0)->shape(), RowMajor(ElementType::kU32, {})});
    return r.Add(Opcode::kCopyDone, i->shape(),
                 {r.Add(Opcode::kCopyStart, started, {i->operand(0)}, CopyStartAttrs())});
  }
  if (i->opcode() == Opcode::kDynamicSlice && from == kHostSpace && to != kHostSpace)
    return WrapAsync(i, r);
  if (i->opcode() == Opcode::kDynamicUpdateSlice && to == kHostSpace && from == kHostSpace &&
      SpaceOf(i->operand(1)->shape()) != kHostSpace)
    return WrapAsync(i, r);
  return nullptr;
}

}  // namespace

// host-offload-legalize. Matches layout changes right after MoveToHost, which move before it, and
// right before MoveToDevice (or before a bitcast that takes or gives dimensions of one element),
// which move after it, so that only the device changes layouts; slices
// without strides that are moved to the device, which become dynamic slices; broadcasts into which
// several updates are moved, of which each gets its own. Exact.
std::unique_ptr<Pass> CreateHostOffloadLegalize() {
  return MakeExpander("host-offload-legalize", Legalize);
}

// host-offloading-prepare-elide-move-to-host: what runs on the host takes arrays as the device has
// them, without a MoveToHost. Exact.
std::unique_ptr<Pass> CreateHostOffloadingPrepareElideMoveToHost() {
  return MakeExpander("host-offloading-prepare-elide-move-to-host", ElideMoves);
}

// host-memory-transfer-asyncifier: copies between the memories of host and device become
// copy-start and copy-done, slices read from the host and updates written to it async-start and
// async-done around them. Exact.
std::unique_ptr<Pass> CreateHostMemoryTransferAsyncifier() {
  return MakeExpander("host-memory-transfer-asyncifier", TransferAsync);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
