// Elements of slices: an element of the result is an element of the operand at another index.
//   slice:                 x[start + stride * i]
//   dynamic-slice:         x[clamp(start, 0, size - slice) + i]
//   dynamic-update-slice:  inside the window update[i - start], else x[i]
//   gather:                x[clamp(indices[batch]) + offset]
// Start indices are clamped, never checked, as XLA defines: a slice always lies inside the operand.
#include "codegen/element_emitter.h"

namespace hlokit {

// In the index's own type, as far as that can exceed the limit: vectors of narrow indices gather
// twice as many elements in one instruction.
llvm::Value* ClampStart(Builder& b, ElementType type, llvm::Value* index, int64_t limit) {
  if (limit <= 0) return b.Index(0);
  const unsigned bits = index->getType()->getScalarSizeInBits();
  const bool is_unsigned = IsUnsigned(type) || IsPred(type);
  const auto bound = [&](int64_t value) {
    return llvm::ConstantInt::get(index->getType(), static_cast<uint64_t>(value));
  };
  const bool may_exceed = bits >= 64 || limit < (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
  if (!is_unsigned) index = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index, bound(0));
  if (may_exceed)
    index = b.CreateBinaryIntrinsic(is_unsigned ? llvm::Intrinsic::umin : llvm::Intrinsic::smin,
                                    index, bound(limit));
  return is_unsigned ? b.CreateZExtOrTrunc(index, b.IndexType())
                     : b.CreateSExtOrTrunc(index, b.IndexType());
}

llvm::Value* ElementEmitter::StartIndex(const Instruction* index, const ElementIndex& at,
                                        int64_t limit) {
  if (limit <= 0) return b_.Index(0);
  return ClampStart(b_, index->shape().type, Emit(index, at).re, limit);
}

ScalarValue ElementEmitter::EmitSlice(const Instruction* i, const ElementIndex& index) {
  const SliceSpec& spec = i->attr<SliceAttrs>().slice;
  const ElementIndex full = WithMulti(b_, index, i->shape());
  std::vector<llvm::Value*> multi;
  for (size_t d = 0; d < spec.size(); ++d)
    multi.push_back(
        b_.CreateNSWAdd(Scale(b_, full.multi[d], spec[d].stride), b_.Index(spec[d].start)));
  return Emit(i->operand(0), ElementIndex::Multi(std::move(multi)));
}

namespace {

// Start operands of a dynamic slice begin at operand `first`: one scalar a dimension, or (old form)
// one vector.
struct Starts {
  const Instruction* index;
  ElementIndex at;
};
Starts StartOperand(Builder& b, const Instruction* i, int64_t first, int64_t dimension) {
  const Instruction* operand = i->operand(first);
  if (operand->shape().rank() == 1) return {operand, ElementIndex::Multi({b.Index(dimension)})};
  return {i->operand(first + dimension), ElementIndex::Multi({})};
}

}  // namespace

ScalarValue ElementEmitter::EmitDynamicSlice(const Instruction* i, const ElementIndex& index) {
  const Shape& from = i->operand(0)->shape();
  const ElementIndex full = WithMulti(b_, index, i->shape());
  std::vector<llvm::Value*> multi;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const int64_t limit = from.dims[d] - i->shape().dims[d];
    const Starts start = limit > 0 ? StartOperand(b_, i, 1, d) : Starts{};
    llvm::Value* first = limit > 0 ? StartIndex(start.index, start.at, limit) : b_.Index(0);
    multi.push_back(b_.CreateNSWAdd(first, full.multi[d]));
  }
  return Emit(i->operand(0), ElementIndex::Multi(std::move(multi)));
}

// Both arms are loaded and one is selected. The index into the update is 0 outside of the window,
// since the load happens in any case.
ScalarValue ElementEmitter::EmitDynamicUpdateSlice(const Instruction* i,
                                                   const ElementIndex& index) {
  const Instruction* update = i->operand(1);
  if (update->shape().ElementCount() == 0) return Operand(i, 0, index);
  const ElementIndex full = WithMulti(b_, index, i->shape());
  llvm::Value* inside = b_.getTrue();
  std::vector<llvm::Value*> multi;
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    const int64_t size = update->shape().dims[d];
    const int64_t limit = i->shape().dims[d] - size;
    if (limit == 0) {
      multi.push_back(full.multi[d]);
      continue;
    }
    const Starts start = StartOperand(b_, i, 2, d);
    llvm::Value* at = b_.CreateNSWSub(full.multi[d], StartIndex(start.index, start.at, limit));
    llvm::Value* valid = b_.CreateICmpULT(at, b_.Index(size));
    inside = b_.CreateAnd(inside, valid);
    multi.push_back(b_.CreateSelect(valid, at, b_.Index(0)));
  }
  const ScalarValue old = Operand(i, 0, index);
  return EmitSelect(b_, {inside}, Emit(update, ElementIndex::Multi(std::move(multi))), old);
}

ScalarValue ElementEmitter::EmitGather(const Instruction* i, const ElementIndex& index) {
  const auto& dims = i->attr<GatherAttrs>();
  const Instruction* operand = i->operand(0);
  const Instruction* indices = i->operand(1);
  // Where a dimension that is dropped has size 0, its start may lie behind the operand.
  const bool takes_nothing =
      std::find(dims.slice_sizes.begin(), dims.slice_sizes.end(), 0) != dims.slice_sizes.end();
  if (takes_nothing || operand->shape().ElementCount() == 0)
    return ZeroElement(b_, i->shape().type);
  const ElementIndex full = WithMulti(b_, index, i->shape());
  auto contains = [](const DimVector& list, int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };

  // The batch part of the result index says which start vector; the offset part where inside its
  // slice.
  std::vector<llvm::Value*> batch;
  for (int64_t d = 0; d < i->shape().rank(); ++d)
    if (!contains(dims.offset_dims, d)) batch.push_back(full.multi[d]);
  auto start_at = [&](int64_t component) {
    std::vector<llvm::Value*> at = batch;
    if (dims.index_vector_dim < indices->shape().rank())
      at.insert(at.begin() + dims.index_vector_dim, b_.Index(component));
    return ElementIndex::Multi(std::move(at));
  };
  std::vector<llvm::Value*> multi(operand->shape().rank(), b_.Index(0));
  size_t offset = 0;
  for (int64_t d = 0; d < operand->shape().rank(); ++d)
    if (!contains(dims.collapsed_slice_dims, d) && !contains(dims.operand_batching_dims, d))
      multi[d] = full.multi[dims.offset_dims[offset++]];
  for (size_t k = 0; k < dims.start_index_map.size(); ++k) {
    const int64_t d = dims.start_index_map[k];
    const int64_t limit = operand->shape().dims[d] - dims.slice_sizes[d];
    multi[d] = b_.CreateNSWAdd(multi[d], StartIndex(indices, start_at(k), limit));
  }
  for (size_t k = 0; k < dims.operand_batching_dims.size(); ++k) {
    int64_t from = dims.start_indices_batching_dims[k];
    if (from > dims.index_vector_dim) --from;
    multi[dims.operand_batching_dims[k]] = batch[from];
  }
  return Emit(operand, ElementIndex::Multi(std::move(multi)));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
