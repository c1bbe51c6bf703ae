// dynamic-dimension-simplifier: removes reshapes, slices and concatenates of dimension sizes that
// cancel out.
// Matches converts to the same type, reshapes to the same shape and back, reshapes of broadcasts to
// what was broadcast, concatenations of concatenations of vectors, and slices of a concatenation
// that are one of its operands. Leaves what they give; what nobody reads any more stays for dce, as
// in XLA. Cost: linear.
//   slice(concatenate(a, b), [1:2]) -> b
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

// concatenate(concatenate(a, b), c), of vectors.
Instruction* FlatConcatenation(Instruction* i, Rewriter& r) {
  if (i->shape().rank() != 1) return nullptr;
  std::vector<Instruction*> parts;
  bool flattens = false;
  for (Instruction* part : i->operands()) {
    if (part->opcode() == Opcode::kConcatenate) {
      parts.insert(parts.end(), part->operands().begin(), part->operands().end());
      flattens = true;
    } else {
      parts.push_back(part);
    }
  }
  return flattens ? r.Clone(i, i->shape(), parts) : nullptr;
}

// A slice that is one operand of a concatenation of vectors.
Instruction* SlicedPart(Instruction* i) {
  const Instruction* whole = i->operand(0);
  if (whole->opcode() != Opcode::kConcatenate || i->shape().rank() != 1) return nullptr;
  const SliceDim& slice = i->attr<SliceAttrs>().slice[0];
  int64_t begin = 0;
  for (Instruction* part : whole->operands()) {
    const int64_t end = begin + part->shape().dims[0];
    if (slice.start == begin && slice.limit == end && slice.stride == 1) return part;
    begin = end;
  }
  return nullptr;
}

Instruction* Reshaped(Instruction* i) {
  Instruction* x = i->operand(0);
  if (x->shape().dims == i->shape().dims) return x;
  const bool undoes = x->opcode() == Opcode::kReshape ||
                      (x->opcode() == Opcode::kBroadcast && x->shape().ElementCount() == 1);
  return undoes && x->operand(0)->shape().dims == i->shape().dims ? x->operand(0) : nullptr;
}

Instruction* Simpler(Instruction* i, Rewriter& r) {
  switch (i->opcode()) {
    case Opcode::kConcatenate:
      return FlatConcatenation(i, r);
    case Opcode::kSlice:
      return SlicedPart(i);
    case Opcode::kReshape:
      return Reshaped(i);
    case Opcode::kConvert:
      return i->operand(0)->shape().type == i->shape().type ? i->operand(0) : nullptr;
    default:
      return nullptr;
  }
}

// Null where nothing is simpler.
Instruction* SimplerThan(Instruction* i, Rewriter& r) {
  if (i->shape().HasDynamicDims() || HasControlEdges(*i)) return nullptr;
  Instruction* simpler = Simpler(i, r);
  return simpler != nullptr && SameShape(simpler->shape(), i->shape()) ? simpler : nullptr;
}

constexpr absl::string_view kDimensionSimplifier = "dynamic-dimension-simplifier";

absl::StatusOr<bool> SimplifyDimensions(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    if (i->users().empty() && !i->IsRoot()) continue;
    Rewriter r(c);
    r.set_subject(i);
    Instruction* simpler = SimplerThan(i, r);
    if (simpler == nullptr) continue;
    if (control.Permit(kDimensionSimplifier, *i, *simpler)) {
      i->ReplaceAllUsesWith(simpler);
      changed = true;
    } else {
      c.RemoveIfDead(simpler);
    }
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateDynamicDimensionSimplifier() {
  return MakeComputationPass(kDimensionSimplifier, SimplifyDimensions);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
