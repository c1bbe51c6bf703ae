// Elementwise operations whose operands differ in run-time sizes.
#include <algorithm>

#include "passes/dynamic/dynamic_arrays_internal.h"

namespace hlokit {
namespace {

using Sizes = DynamicArrays::Sizes;

// The smaller one, but that 1 gives way to what is larger.
Instruction* Agreed(DynamicArrays& a, Instruction* x, Instruction* y) {
  HloWriter& w = a.w();
  Instruction* least = w.Binary(Opcode::kMinimum, x, y);
  Instruction* is_one = w.Compare(least, a.Int(1), ComparisonDirection::kEq);
  return w.Select(is_one, w.Binary(Opcode::kMaximum, x, y), least);
}

// Those of a clamp are its upper bound's, else those of the value that it clamps.
Sizes AgreedSizes(DynamicArrays& a, const Instruction* i) {
  const bool clamp = i->opcode() == Opcode::kClamp;
  Sizes sizes(i->shape().rank(), nullptr);
  for (int64_t k = clamp ? 1 : 0; k < i->operand_count(); ++k) {
    const Sizes own = a.SizesOf(i->operand(k));
    for (size_t d = 0; d < own.size(); ++d) {
      if (own[d] == nullptr || own[d] == sizes[d]) continue;
      if (!i->shape().IsDynamic(static_cast<int>(d))) continue;
      sizes[d] = sizes[d] == nullptr || clamp ? own[d] : Agreed(a, sizes[d], own[d]);
    }
  }
  return sizes;
}

// Element 0 along dimension d everywhere where `size` is 1; else x itself.
Instruction* Stretched(DynamicArrays& a, Instruction* x, int64_t d, Instruction* size) {
  HloWriter& w = a.w();
  const DimVector& dims = x->shape().dims;
  DimVector others, places;
  for (int64_t k = 0; k < x->shape().rank(); ++k) {
    if (k == d) continue;
    others.push_back(dims[k]);
    places.push_back(k);
  }
  Instruction* line = w.Broadcast(w.Reshape(w.SliceOf(x, d, 0, 1), others), dims, places);
  Instruction* is_one = w.Compare(size, a.Int(1), ComparisonDirection::kEq);
  return w.Select(w.Broadcast(is_one, dims, {}), line, x);
}

}  // namespace

void PadElementwise(DynamicArrays& a, Instruction* i) {
  const Sizes sizes = AgreedSizes(a, i);
  std::vector<Instruction*> operands = a.PaddedOperands(i);
  for (size_t k = 0; k < operands.size(); ++k) {
    const Sizes own = a.SizesOf(i->operand(k));
    for (size_t d = 0; d < own.size(); ++d)
      if (own[d] != nullptr && own[d] != sizes[d] && i->shape().dims[d] > 1)
        operands[k] = Stretched(a, operands[k], d, own[d]);
  }
  a.Note(i, a.rewriter().Clone(i, AtBounds(i->shape()), operands), sizes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
