// reshape-mover: moves reshapes and transposes from the operands of elementwise operations to their
// results.
// Matches elementwise operations all of whose operands are reshapes from one shape (or transposes
// of one kind), or constants and broadcasts of scalars (of any array besides transposes), where
// every user of those reshapes can move too. Leaves the operation on what was reshaped and one
// reshape of its result. One level a run: what moved may move on in the next. Cost: linear.
//   add(reshape(x), reshape(y)) -> reshape(add(x, y))
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

constexpr absl::string_view kReshapeMover = "reshape-mover";

const DimVector& Permutation(const Instruction* i) { return i->attr<DimensionsAttrs>().dimensions; }

// Values that cost nothing to make in another shape.
bool IsFreelyShaped(const Instruction* i) {
  if (i->IsConstant()) return true;
  return i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().IsScalar();
}

// A broadcast can be made in another order of dimensions, so what is transposed alike can.
bool FollowsTranspose(const Instruction* i) { return i->opcode() == Opcode::kBroadcast; }

bool Rearranges(const Instruction* i) {
  return (i->opcode() == Opcode::kReshape || i->opcode() == Opcode::kTranspose) &&
         !IsFreelyShaped(i->operand(0));
}

bool SameRearrangement(const Instruction* a, const Instruction* b) {
  if (a->opcode() != b->opcode() || a->operand(0)->shape().dims != b->operand(0)->shape().dims)
    return false;
  return a->opcode() == Opcode::kReshape || Permutation(a) == Permutation(b);
}

// The rearrangement below which `i` may move; null if it may not.
Instruction* RearrangementOf(const Instruction* i) {
  if (!HasTrait(i->opcode(), kElementwise) || i->operand_count() == 0 || !i->shape().IsArray() ||
      i->opcode() == Opcode::kBitcastConvert || i->opcode() == Opcode::kCopy ||
      i->shape().HasDynamicDims() || HasControlEdges(*i) || (i->users().empty() && !i->IsRoot()))
    return nullptr;
  Instruction* found = nullptr;
  bool transposed_only = false;
  for (Instruction* x : i->operands()) {
    if (x->shape().dims != i->shape().dims || x->shape().HasDynamicDims()) return nullptr;
    if (Rearranges(x)) {
      if (found != nullptr && !SameRearrangement(found, x)) return nullptr;
      found = x;
    } else if (!IsFreelyShaped(x)) {
      if (!FollowsTranspose(x)) return nullptr;
      transposed_only = true;
    }
  }
  if (transposed_only && found != nullptr && found->opcode() != Opcode::kTranspose) return nullptr;
  return found;
}

// The dimensions and their order of what `by` rearranges, the type (and element size) of `like`.
Shape InnerShape(const Instruction* by, const Shape& like) {
  Shape shape = by->operand(0)->shape().WithType(like.type);
  shape.layout.extras = like.layout.extras;
  return shape;
}

// What `x`, which is no rearrangement, is before the rearrangement `by`.
Instruction* Undone(Instruction* x, const Instruction* by, Rewriter& r) {
  const Shape shape = InnerShape(by, x->shape());
  if (x->opcode() == Opcode::kBroadcast) {
    DimVector dims = x->attr<BroadcastAttrs>().dimensions;
    for (int64_t& d : dims) d = Permutation(by)[d];  // none where `by` is a reshape
    return r.Broadcast(x->operand(0), shape, dims);
  }
  if (by->opcode() == Opcode::kReshape) return r.Reshape(x, shape);
  DimVector inverse(Permutation(by).size());
  for (size_t d = 0; d < inverse.size(); ++d) inverse[Permutation(by)[d]] = d;
  return r.Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{std::move(inverse)});
}

Instruction* Moved(Instruction* i, const Instruction* by, Rewriter& r) {
  std::vector<Instruction*> operands;
  for (Instruction* x : i->operands())
    operands.push_back(Rearranges(x) ? x->operand(0) : Undone(x, by, r));
  Instruction* inner = r.Clone(i, InnerShape(by, i->shape()), operands);
  if (by->opcode() == Opcode::kReshape) return r.Reshape(inner, i->shape());
  return r.Add(Opcode::kTranspose, i->shape(), {inner}, DimensionsAttrs{Permutation(by)});
}

// The instructions that may move such that no rearrangement is needed both before and after them.
std::vector<std::pair<Instruction*, Instruction*>> Movable(const Computation& computation) {
  std::vector<std::pair<Instruction*, Instruction*>> candidates;
  absl::flat_hash_set<const Instruction*> may_move;
  for (Instruction* i : computation.PostOrder())
    if (Instruction* by = RearrangementOf(i)) {
      candidates.push_back({i, by});
      may_move.insert(i);
    }
  bool again = true;
  while (again) {
    again = false;
    std::erase_if(candidates, [&](const auto& candidate) {
      for (const Instruction* x : candidate.first->operands()) {
        if (!Rearranges(x)) continue;
        const bool free = !x->IsRoot() && std::all_of(x->users().begin(), x->users().end(),
                                                      [&](const Instruction* user) {
                                                        return may_move.contains(user);
                                                      });
        if (free) continue;
        may_move.erase(candidate.first);
        again = true;
        return true;
      }
      return false;
    });
  }
  return candidates;
}

absl::StatusOr<bool> MoveReshapes(Computation& computation, RewriteControl& control) {
  bool changed = false;
  Rewriter rewriter(computation);
  for (const auto& [i, by] : Movable(computation)) {
    rewriter.set_subject(i);
    Instruction* made = Moved(i, by, rewriter);
    const std::vector<Instruction*> all = rewriter.TakeMade();
    if (!control.Permit(kReshapeMover, *i, *made)) {
      for (size_t k = all.size(); k-- > 0;) computation.Remove(all[k]);
      continue;
    }
    i->ReplaceAllUsesWith(made);
    computation.RemoveIfDead(i);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateReshapeMover() {
  return MakeComputationPass(kReshapeMover, MoveReshapes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
