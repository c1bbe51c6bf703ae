// Fusions that Triton's emitter compiles tile by tile.
//   triton-softmax-rewriter:
//     r = reduce(x), dimensions={last};  s = x - broadcast(r)   ->  fusion(x){s}, kind=kCustom
//   fusion-block-level-rewriter:
//     fusion, kind=kLoop or kInput  ->  the same with kind=kCustom and a tiling in backend_config
// A diamond is found from its root, an elementwise operation of two operands, of which the second
// leads to a broadcast of a reduction of rows and both to one producer. Between these lie only
// trivial steps: elementwise ones of one operand, or of two of which one is a broadcast of a
// constant or a parameter, and bitcasts that leave rows alone, each with one reader. What leads up
// to the producer in such steps is fused as well. Two diamonds in a row (softmax) become two
// fusions. Cost: linear in the module and in the steps from each root.
#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/fused_members.h"
#include "passes/gpu/triton_support.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

// ---- diamonds

constexpr int64_t kMaxRow = 1 << 16;  // elements of a row, of which a tile holds one whole

bool IsBroadcastConstant(const Instruction* i) {
  return i->opcode() == Opcode::kBroadcast && i->operand(0)->IsConstant() &&
         i->operand(0)->shape().IsScalar();
}

// A parameter spread over leading or trailing dimensions, not over those between.
bool IsBroadcastParameter(const Instruction* i) {
  if (i->opcode() != Opcode::kBroadcast || !i->operand(0)->IsParameter()) return false;
  const DimVector& where = i->attr<BroadcastAttrs>().dimensions;
  const auto keeps = [&](int64_t d) {
    return std::find(where.begin(), where.end(), d) != where.end();
  };
  return i->operand(0)->shape().ElementCount() == 1 || !(keeps(0) && keeps(i->shape().rank() - 1));
}

bool IsSideOperand(const Instruction* i) {
  return IsBroadcastConstant(i) || IsBroadcastParameter(i);
}

// Which operand a path goes on through.
Instruction* OnPath(const Instruction* i) {
  return i->operand(i->operand_count() > 1 && IsSideOperand(i->operand(0)) ? 1 : 0);
}

bool KeepsRows(const Instruction* bitcast);

bool IsBinaryElementwise(const Instruction* i) {
  return i->operand_count() == 2 && HasTrait(i->opcode(), kElementwise) && i->called().empty();
}

bool IsTrivial(const Instruction* i, size_t readers = 1) {
  if (i->users().size() > readers || i->IsRoot() || !TritonHas(*i)) return false;
  if (i->opcode() == Opcode::kBitcast) return KeepsRows(i);
  if (!HasTrait(i->opcode(), kElementwise) || i->operand_count() == 0) return false;
  if (i->operand_count() == 1) return true;
  return IsBinaryElementwise(i) && (i->operand(0) == i->operand(1) ||
                                    IsSideOperand(i->operand(0)) != IsSideOperand(i->operand(1)));
}

// The instruction of this opcode that trivial steps up from `i` lead to, or null.
Instruction* Above(Instruction* i, Opcode opcode) {
  while (i->opcode() != opcode) {
    if (!IsTrivial(i)) return nullptr;
    i = OnPath(i);
  }
  return i;
}

// A bitcast that leaves the last dimension, or has a reduction's result, which has no rows.
bool KeepsRows(const Instruction* bitcast) {
  const Instruction* x = bitcast->operand(0);
  if (bitcast->shape().ElementCount() == 1) return true;
  if (bitcast->shape().type != x->shape().type || !bitcast->shape().IsRowMajor() ||
      !x->shape().IsRowMajor())
    return false;
  return Above(bitcast->operand(0), Opcode::kReduce) != nullptr ||
         (!x->shape().dims.empty() && !bitcast->shape().dims.empty() &&
          x->shape().dims.back() == bitcast->shape().dims.back());
}

bool LeadsTo(Instruction* from, const Instruction* producer) {
  while (from != producer) {
    if (!IsTrivial(from)) return false;
    from = OnPath(from);
  }
  return true;
}

struct Diamond {
  Instruction *root, *producer;
};

bool ReducesRows(const Instruction& reduce, const Instruction& broadcast) {
  const Shape& x = reduce.operand(0)->shape();
  const int64_t last = broadcast.shape().rank() - 1;
  const DimVector& where = broadcast.attr<BroadcastAttrs>().dimensions;
  return TritonHas(reduce) && reduce.users().size() == 1 && broadcast.users().size() == 1 &&
         x.IsRowMajor() && reduce.shape().IsRowMajor() && broadcast.shape().IsRowMajor() &&
         reduce.attr<DimensionsAttrs>().dimensions[0] == x.rank() - 1 &&
         std::find(where.begin(), where.end(), last) == where.end() && !where.empty() &&
         x.dims.back() == broadcast.shape().dims.back() && x.dims.back() > 0 &&
         x.dims.back() <= kMaxRow;
}

// The producer or, where it is a trivial step too, what that begins with.
Instruction* FirstOf(Instruction* producer) {
  if (!IsTrivial(producer, /*readers=*/2)) return producer;
  producer = OnPath(producer);
  while (IsTrivial(producer)) producer = OnPath(producer);
  return producer;
}

std::optional<Diamond> DiamondAt(Instruction* root) {
  // A scalar, which bitcasts of arrays of one element lead to, has no rows.
  if (!IsBinaryElementwise(root) || !TritonHas(*root) || !root->shape().IsRowMajor() ||
      root->shape().IsScalar())
    return std::nullopt;
  Instruction* broadcast = Above(root->operand(1), Opcode::kBroadcast);
  if (broadcast == nullptr) return std::nullopt;
  Instruction* reduce = Above(broadcast->operand(0), Opcode::kReduce);
  if (reduce == nullptr || !ReducesRows(*reduce, *broadcast)) return std::nullopt;
  // From the root up, the first that two read, or that is no trivial step.
  Instruction* producer = root->operand(0);
  while (producer != reduce->operand(0) && IsTrivial(producer)) producer = OnPath(producer);
  if (!producer->shape().IsArray() || !producer->shape().IsRowMajor() ||
      !LeadsTo(reduce->operand(0), producer) || producer->users().size() < 2)
    return std::nullopt;
  return Diamond{root, FirstOf(producer)};
}

// What lies between the producer and the root, constants and spread parameters included.
FusedMembers MembersOf(const Diamond& diamond) {
  FusedMembers what;
  what.computation = "triton_softmax_computation";
  what.fusion = "triton_softmax";
  std::vector<const Instruction*> open = {diamond.root};
  while (!open.empty()) {
    const Instruction* i = open.back();
    open.pop_back();
    if (i == diamond.producer || i->IsParameter() || !what.members.insert(i).second) continue;
    for (const Instruction* operand : i->operands()) open.push_back(operand);
  }
  return what;
}

bool IsPinned(const FusedMembers& what) {
  return std::any_of(what.members.begin(), what.members.end(), [](const Instruction* i) {
    return HasControlEdges(*i) || !(TritonHas(*i) || i->IsConstant());
  });
}

class SoftmaxRewriter final : public ComputationPass {
 public:
  explicit SoftmaxRewriter(int64_t capability) : capability_(capability) {}
  absl::string_view name() const override { return "triton-softmax-rewriter"; }
  absl::StatusOr<bool> Run(Module& module) override {
    if (capability_ < 80)
      return absl::FailedPreconditionError(
          "Triton's fusions need a GPU of compute capability 8.0 or more");
    return ComputationPass::Run(module);
  }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    std::vector<Instruction*> roots;
    for (Instruction* i : c.PostOrder())
      if (DiamondAt(i)) roots.push_back(i);
    absl::flat_hash_set<const Instruction*> fused;
    // The last first: the root of one may be the producer of the next, or one of its trivial steps.
    for (size_t k = roots.size(); k-- > 0;) {
      if (fused.contains(roots[k])) continue;
      const auto diamond = DiamondAt(roots[k]);
      if (!diamond) continue;
      const FusedMembers what = MembersOf(*diamond);
      if (IsPinned(what) || !control().Permit(name(), *diamond->root, *diamond->root)) continue;
      DimVector tile(diamond->root->shape().dims.size(), 1);
      tile.back() = diamond->root->shape().dims.back();
      fused.insert(what.members.begin(), what.members.end());
      WriteTiles(*FuseMembers(diamond->root, what), {tile});
    }
    const bool changed = !fused.empty();
    if (changed) RemoveDead(c);
    return changed;
  }

 private:
  int64_t capability_;
};

// ---- fusions that exist

constexpr int64_t kTile = 1024;  // elements of a result's tile

// The results that a tiling is written for; empty where it cannot be.
std::vector<DimVector> TilesOf(const Instruction& fusion, bool several) {
  const Shape& shape = fusion.shape();
  if (shape.IsArray()) return {TileOf(shape, kTile)};
  if (!several || shape.elements.empty()) return {};
  for (const Shape& part : shape.elements)
    if (!part.IsArray() || !SameDims(part, shape.elements[0])) return {};
  return std::vector<DimVector>(shape.elements.size(), TileOf(shape.elements[0], kTile));
}

class BlockLevelRewriter final : public ComputationPass {
 public:
  explicit BlockLevelRewriter(bool several) : several_(several) {}
  absl::string_view name() const override { return "fusion-block-level-rewriter"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    for (Instruction* i : c.PostOrder()) {
      if (i->opcode() != Opcode::kFusion || i->attr<FusionAttrs>().kind == FusionKind::kCustom ||
          IsTritonFusion(*i) || !TritonHas(*i->to_apply()))
        continue;
      const std::vector<DimVector> tiles = TilesOf(*i, several_);
      if (tiles.empty() || !control().Permit(name(), *i, *i)) continue;
      i->mutable_attr<FusionAttrs>().kind = FusionKind::kCustom;
      WriteTiles(*i, tiles);
      changed = true;
    }
    return changed;
  }

 private:
  bool several_;
};

}  // namespace

// triton-softmax-rewriter: see above. Option: `capability`, the GPU's compute capability times ten
// (80). XLA's pass chooses tiles by its cost model; here a tile is a row. Exact but for sums in
// other orders.
std::unique_ptr<Pass> CreateTritonSoftmaxRewriter(PassArguments& arguments) {
  return std::make_unique<SoftmaxRewriter>(
      arguments.Int("capability", 80, "the GPU's compute capability times 10"));
}

// fusion-block-level-rewriter: see above. Fusions of what Triton's emitter has become its, as in
// XLA under xla_gpu_experimental_enable_fusion_block_level_rewriter. Option: `multi-output`,
// fusions of several results of one shape too (XLA's flag has
// same_shape_multi_output_fusion). Tiles hold 1,024 elements, where XLA asks its cost model.
std::unique_ptr<Pass> CreateFusionBlockLevelRewriter(PassArguments& arguments) {
  return std::make_unique<BlockLevelRewriter>(
      arguments.Flag("multi-output", "fusions of several results of one shape too"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
