// Slices and operands of concatenations that are one contiguous block in both arrays become a
// memcpy where they run. As loops each would be a function to compile, and a model has thousands of
// them.
//   f32[4,8,16] slice [2:3, 0:8, 0:16]: contiguous
//   f32[4,8,16] slice [0:4, 2:3, 0:16]: four pieces, not contiguous
// Blocks up to kMaxBytes only: longer copies are worth several threads.
#include <algorithm>

#include "analysis/in_place.h"
#include "backends/cpu/kernels/strategies_internal.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxBytes = 256 << 10;  // more is for threads
constexpr size_t kMaxPartsTogether = 8;   // operands of a concatenation in one loop
constexpr size_t kMaxStarts = 64;         // instructions that compute where a slice begins

// The operand that an instruction is, looked at through what changes no bytes; -1 for none.
int64_t LeafOf(const Expression& e, const Instruction* i) {
  for (;;) {
    const auto leaf = std::find_if(e.leaves.begin(), e.leaves.end(),
                                   [i](const auto& l) { return l.instruction == i; });
    if (leaf != e.leaves.end()) return i->shape().IsRowMajor() ? leaf->operand : -1;
    if (!IsPassThrough(*i)) return -1;
    i = i->operand(0);
  }
}

bool IsBlock(const Shape& shape) {
  return shape.IsArray() && shape.IsRowMajor() && !IsSubByte(shape.type) &&
         !IsComplex(shape.type) && !shape.HasDynamicDims() && shape.ElementCount() > 0 &&
         shape.ByteSize() <= kMaxBytes;
}

// True if `part` of an array of shape `whole`, of the same rank, is one piece of its memory.
bool LiesTogether(const Shape& part, const Shape& whole) {
  int64_t d = 0;
  while (d < part.rank() && part.dims[d] == 1) ++d;
  for (++d; d < part.rank(); ++d)
    if (part.dims[d] != whole.dims[d]) return false;
  return true;
}

llvm::Value* PlaceIn(Builder& b, const ArrayRef& array, llvm::Value* element) {
  return b.CreateInBoundsGEP(MemoryType(b.getContext(), array.shape.type), array.base, element);
}

void Copy(Builder& b, llvm::Value* to, llvm::Value* from, const Shape& shape) {
  const llvm::Align alignment(ByteWidth(shape.type));
  b.CreateMemCpy(to, alignment, from, alignment, static_cast<uint64_t>(shape.ByteSize()));
}

// So little work that it stands in its caller.
Kernel InPlaceOfCall(std::function<void(Builder&, KernelArrays&)> emit) {
  Kernel kernel;
  kernel.units = 1;
  kernel.unit_cost = 1;
  kernel.emit = [emit = std::move(emit)](Builder& b, KernelArrays& arrays, llvm::Value*,
                                         llvm::Value*) { emit(b, arrays); };
  return kernel;
}

// Where a slice begins, for each dimension.
std::vector<llvm::Value*> Starts(ElementEmitter& emitter, const Instruction* slice) {
  Builder& b = emitter.builder();
  const Shape& from = slice->operand(0)->shape();
  const bool fixed = slice->opcode() == Opcode::kSlice;
  std::vector<llvm::Value*> starts;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const int64_t limit = from.dims[d] - slice->shape().dims[d];
    if (fixed || limit == 0) {
      starts.push_back(b.getInt64(fixed ? slice->attr<SliceAttrs>().slice[d].start : 0));
      continue;
    }
    const bool in_vector = slice->operand(1)->shape().rank() == 1;
    const Instruction* index = slice->operand(in_vector ? 1 : 1 + d);
    const ElementIndex at = ElementIndex::Multi(in_vector ? std::vector<llvm::Value*>{b.getInt64(d)}
                                                          : std::vector<llvm::Value*>{});
    starts.push_back(ClampStart(b, index->shape().type, emitter.Emit(index, at).re, limit));
  }
  return starts;
}

bool HasStrides(const Instruction& slice) {
  if (slice.opcode() != Opcode::kSlice) return false;
  const SliceSpec& spec = slice.attr<SliceAttrs>().slice;
  return std::any_of(spec.begin(), spec.end(), [](const auto& s) { return s.stride != 1; });
}

}  // namespace

bool AddSliceCopy(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || !IsBlock(e.shapes[0])) return false;
  const Instruction* slice = e.roots[0];
  while (IsPassThrough(*slice) && LeafOf(e, slice) < 0) slice = slice->operand(0);
  if (slice->opcode() != Opcode::kSlice && slice->opcode() != Opcode::kDynamicSlice) return false;
  const int64_t operand = LeafOf(e, slice->operand(0));
  if (operand < 0 || HasStrides(*slice) || !slice->shape().IsRowMajor() ||
      slice->shape().type != e.shapes[0].type || !slice->operand(0)->shape().IsRowMajor() ||
      !LiesTogether(slice->shape(), slice->operand(0)->shape()) || Body(e).size() > kMaxStarts)
    return false;
  out.push_back(InPlaceOfCall([e, slice, operand](Builder& b, KernelArrays& arrays) {
    ElementEmitter emitter(b);
    BindLeaves(emitter, e, arrays);
    const ArrayRef from = {arrays.operand(operand).base, slice->operand(0)->shape()};
    const ElementIndex start = ElementIndex::Multi(Starts(emitter, slice));
    Copy(b, arrays.result(0).base, PlaceIn(b, from, LinearOffset(b, start, from.shape)),
         e.shapes[0]);
  }));
  return true;
}

bool AddBitcastCopy(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kBitcastConvert) return false;
  const Shape &to = e.roots[0]->shape(), &from = e.roots[0]->operand(0)->shape();
  const auto whole_bytes = [](const Shape& shape) {
    return shape.IsRowMajor() && !IsSubByte(shape.type) && !IsPred(shape.type);
  };
  const int64_t operand = LeafOf(e, e.roots[0]->operand(0));
  if (operand < 0 || !whole_bytes(to) || !whole_bytes(from) || to.ElementCount() == 0) return false;
  out.push_back(CopyKernel(operand, 0, to, request.target));
  return true;
}

namespace {

bool AddPartCopy(const Expression& e, const Instruction* part, int64_t dimension, int64_t start,
                 std::vector<Kernel>& out) {
  const Shape& whole = e.roots[0]->shape();
  const int64_t operand = LeafOf(e, part);
  if (operand < 0 || !IsBlock(part->shape()) || !whole.IsRowMajor() ||
      part->shape().type != whole.type || !LiesTogether(part->shape(), whole) ||
      e.subject->operand(operand)->shape().type != whole.type)
    return false;
  const int64_t at = start * LayoutStrides(whole)[dimension];
  out.push_back(InPlaceOfCall([part, whole, operand, at](Builder& b, KernelArrays& arrays) {
    Copy(b, PlaceIn(b, {arrays.result(0).base, whole}, b.getInt64(at)),
         arrays.operand(operand).base, part->shape());
  }));
  return true;
}

}  // namespace

bool AddConcatenateWithCopies(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddConcatenateKernels(request, AddPartCopy, kMaxPartsTogether, out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
