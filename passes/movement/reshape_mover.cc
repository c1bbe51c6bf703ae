// reshape-mover: moves reshapes and transposes from the operands of elementwise operations to their
// results.
// Matches elementwise operations with a reshape (or transpose) among their operands, all others
// being alike or values of which the inverse is free: constants, broadcasts of scalars, and of any
// array besides transposes that keep the order of its dimensions. Every user of those reshapes must
// be able to move too. Leaves the operation on the inverse of each operand (nothing where it undoes
// a reshape; a transpose of a transpose is left to algsimp, as in XLA) and one reshape of its
// result. One level a run: what moved may move on in the next. Cost: linear.
//   add(reshape(x), reshape(y)) -> reshape(add(x, y))
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/rewriter.h"

namespace hlokit {
namespace {

constexpr absl::string_view kReshapeMover = "reshape-mover";

const DimVector& Permutation(const Instruction* i) { return i->attr<DimensionsAttrs>().dimensions; }

bool Rearranges(const Instruction* i) {
  return i->opcode() == Opcode::kReshape || i->opcode() == Opcode::kTranspose;
}

bool SameRearrangement(const Instruction* a, const Instruction* b) {
  if (a->opcode() != b->opcode() || a->shape().dims != b->shape().dims) return false;
  return a->opcode() == Opcode::kReshape
             ? a->operand(0)->shape().dims == b->operand(0)->shape().dims
             : Permutation(a) == Permutation(b);
}

// One computation's moves.
class Mover {
 public:
  Mover(Computation& computation, RewriteControl& control, bool lists_are_free)
      : computation_(computation),
        control_(control),
        rewriter_(computation),
        lists_are_free_(lists_are_free) {}

  bool Run() {
    bool changed = false;
    for (Instruction* i : Movable()) changed |= Move(i);
    return changed;
  }

 private:
  // Whether the inverse of `by` is free to apply to `x`.
  bool IsFree(const Instruction* x, const Instruction* by) const {
    if (by->opcode() == Opcode::kReshape && by->shape() == by->operand(0)->shape()) return true;
    if (by->opcode() == Opcode::kTranspose && IsIota(Permutation(by))) return true;
    if (x->IsConstant() || (x->opcode() == Opcode::kRng && x->users().size() == 1)) return true;
    if (x->opcode() != Opcode::kBroadcast) return false;
    DimVector dims = x->attr<BroadcastAttrs>().dimensions;
    if (!std::is_sorted(dims.begin(), dims.end())) return false;
    if (by->opcode() == Opcode::kReshape) {
      const DimVector& sizes = x->operand(0)->shape().dims;
      const auto wide = std::count_if(sizes.begin(), sizes.end(), [](int64_t n) { return n != 1; });
      return sizes.empty() || (lists_are_free_ && wide <= 1);
    }
    for (int64_t& d : dims) d = Permutation(by)[d];
    return std::is_sorted(dims.begin(), dims.end());
  }

  // The first rearrangement among the operands that costs something.
  Instruction* FirstOf(const Instruction* i) const {
    for (Instruction* x : i->operands())
      if (Rearranges(x) && !IsFree(x->operand(0), x)) return x;
    return nullptr;
  }

  bool IsCandidate(const Instruction* i) const {
    if (!HasTrait(i->opcode(), kElementwise) || i->operand_count() == 0 || !i->shape().IsArray() ||
        i->opcode() == Opcode::kBitcastConvert || i->opcode() == Opcode::kCopy ||
        i->shape().HasDynamicDims() || HasControlEdges(*i) || (i->users().empty() && !i->IsRoot()))
      return false;
    for (const Instruction* x : i->operands())
      if (x->shape().dims != i->shape().dims || x->shape().HasDynamicDims()) return false;
    const Instruction* by = FirstOf(i);
    if (by == nullptr || by->operand(0)->shape().HasDynamicDims()) return false;
    return std::all_of(i->operands().begin(), i->operands().end(), [&](const Instruction* x) {
      return Rearranges(x) ? SameRearrangement(x, by) : IsFree(x, by);
    });
  }

  // The instructions that may move such that no rearrangement is needed both before and after them.
  std::vector<Instruction*> Movable() const {
    std::vector<Instruction*> candidates = computation_.PostOrder();
    std::erase_if(candidates, [&](const Instruction* i) { return !IsCandidate(i); });
    absl::flat_hash_set<const Instruction*> left(candidates.begin(), candidates.end());
    absl::flat_hash_map<const Instruction*, bool> known;  // of this round, by rearrangement
    const auto is_free = [&](const Instruction* x) {
      if (!Rearranges(x)) return true;
      const auto [found, is_new] = known.try_emplace(x, !x->IsRoot());
      if (is_new && found->second)
        found->second = std::all_of(x->users().begin(), x->users().end(),
                                    [&](const Instruction* u) { return left.contains(u); });
      return found->second;
    };
    while (std::erase_if(candidates, [&](const Instruction* i) {
             if (std::all_of(i->operands().begin(), i->operands().end(), is_free)) return false;
             left.erase(i);
             return true;
           }) > 0)
      known.clear();
    return candidates;
  }

  // The dimensions and their order of what `by` rearranges, the type (and element size) of `like`.
  static Shape InnerShape(const Instruction* by, const Shape& like) {
    Shape shape = by->operand(0)->shape().WithType(like.type);
    shape.layout.extras = like.layout.extras;
    return shape;
  }

  Instruction* Undone(Instruction* x, const Instruction* by) {
    const Shape shape = InnerShape(by, x->shape());
    if (by->opcode() == Opcode::kReshape) {
      if (x->shape() == shape) return x;
      if (x->opcode() == Opcode::kReshape && x->operand(0)->shape() == shape) return x->operand(0);
      return rewriter_.Reshape(x, shape);
    }
    DimVector inverse(Permutation(by).size());
    for (size_t d = 0; d < inverse.size(); ++d) inverse[Permutation(by)[d]] = d;
    if (IsIota(inverse)) return x;
    // In an order of memory in which nothing moves, as XLA infers it.
    Shape transposed = shape;
    for (size_t k = 0; k < inverse.size(); ++k)
      transposed.layout.minor_to_major[k] = Permutation(by)[x->shape().layout.minor_to_major[k]];
    return rewriter_.Add(Opcode::kTranspose, transposed, {x}, DimensionsAttrs{inverse});
  }

  // False where the control forbids it.
  bool Move(Instruction* i) {
    const Instruction* by = FirstOf(i);
    rewriter_.set_subject(i);
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) operands.push_back(Undone(x, by));
    Instruction* inner = rewriter_.Clone(i, InnerShape(by, i->shape()), operands);
    Instruction* made = by->opcode() == Opcode::kReshape
                            ? rewriter_.Reshape(inner, i->shape())
                            : rewriter_.Add(Opcode::kTranspose, i->shape(), {inner},
                                            DimensionsAttrs{Permutation(by)});
    const std::vector<Instruction*> all = rewriter_.TakeMade();
    if (!control_.Permit(kReshapeMover, *i, *made)) {
      for (size_t k = all.size(); k-- > 0;) computation_.Remove(all[k]);
      return false;
    }
    i->ReplaceAllUsesWith(made);
    computation_.RemoveIfDead(i);
    return true;
  }

  Computation& computation_;
  RewriteControl& control_;
  Rewriter rewriter_;
  bool lists_are_free_;
};

class ReshapeMover final : public ComputationPass {
 public:
  explicit ReshapeMover(bool lists_are_free) : lists_are_free_(lists_are_free) {}
  absl::string_view name() const override { return kReshapeMover; }
  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    return Mover(computation, control(), lists_are_free_).Run();
  }

 private:
  bool lists_are_free_;
};

}  // namespace

std::unique_ptr<Pass> CreateReshapeMover(PassArguments& arguments) {
  const bool lists_are_free =
      arguments.Flag("reshape-of-1d-broadcast-is-cheap",
                     "also broadcasts of one dimension, which a reshape then makes anew");
  return std::make_unique<ReshapeMover>(lists_are_free);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
