// Fusions by outlining: connected groups of instructions, chosen at random rather than as a fusion
// pass would, move into computations of their own.
//
//   a = add(x, y)                          ROOT of the fused computation: multiply(add(p0, p1), p1)
//   ROOT m = multiply(a, y)          ->    ROOT m = fusion(x, y), kind=kLoop
//
// A group is convex: no path leaves it and comes back, which would make a cycle of the fusion.
// Costs O(instructions) for each instruction that is tried for a group.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "generator/stages_internal.h"
#include "ir/attributes.h"
#include "ops/infer/op_table.h"

namespace hlokit {
namespace {

using Group = absl::flat_hash_set<Instruction*>;

// True if some path leaves the group and comes back to it.
bool IsConcave(const Group& group) {
  std::vector<Instruction*> stack;
  absl::flat_hash_set<Instruction*> seen;
  const auto push = [&](Instruction* i) {
    if (seen.insert(i).second) stack.push_back(i);
  };
  for (const Instruction* member : group)
    for (Instruction* user : member->users())
      if (!group.contains(user)) push(user);
  while (!stack.empty()) {
    Instruction* i = stack.back();
    stack.pop_back();
    if (group.contains(i)) return true;
    for (Instruction* user : i->users()) push(user);
    for (Instruction* after : i->control_successors()) push(after);
  }
  return false;
}

// Grows a group around `seed` of instructions that `fits` allows.
Group GrowGroup(Instruction* seed, bool (*fits)(const Instruction&), Random& random) {
  Group group = {seed};
  std::vector<Instruction*> members = {seed};
  for (int64_t tries = random.Between(0, 14); tries > 0; --tries) {
    const Instruction* from = random.OneOf(members);
    const bool up = from->operand_count() > 0 && (from->users().empty() || random.Chance(0.6));
    if (!up && from->users().empty()) continue;
    Instruction* next = up ? random.OneOf(from->operands()) : random.OneOf(from->users());
    if (!fits(*next) || !group.insert(next).second) continue;
    if (IsConcave(group))
      group.erase(next);
    else
      members.push_back(next);
  }
  return group;
}

// The computation that one group moves to, and what the fusion or call in its place takes and
// gives.
class Outline {
 public:
  Outline(Computation& from, const Group& group, Opcode opcode, absl::string_view name,
          Random& random)
      : from_(from), random_(random), opcode_(opcode) {
    for (Instruction* i : from_.PostOrder())
      if (group.contains(i)) members_.push_back(i);
    for (Instruction* member : members_)
      if (IsOutput(*member, group)) outputs_.push_back(member);
    random_.Shuffle(outputs_);
    body_ = from.module()->AddComputation(name);
  }

  // Puts the instruction in the place of the group, and gives its computation.
  Computation* Apply() {
    for (const Instruction* member : members_) Take(*member, /*depth=*/0);
    if (opcode_ == Opcode::kFusion) MaybeAddUnusedParameter();
    SetRoot();
    Replace();
    for (auto member = members_.rbegin(); member != members_.rend(); ++member)
      from_.Remove(*member);
    return body_;
  }

 private:
  static bool IsOutput(const Instruction& member, const Group& group) {
    if (member.IsRoot() || member.users().empty()) return true;
    return std::any_of(member.users().begin(), member.users().end(),
                       [&](Instruction* user) { return !group.contains(user); });
  }

  Instruction* Take(const Instruction& i, int depth) {
    std::vector<Instruction*> operands;
    for (Instruction* operand : i.operands()) operands.push_back(Inside(operand, depth));
    return copies_[&i] = body_->Add(i.CloneWith(i.shared_shape(), operands), i.name());
  }

  // What stands for `operand` in the body: the copy of a member, a parameter (now and
  // then a second one of the same operand), or what computes it once more, as fusion passes
  // duplicate cheap producers.
  Instruction* Inside(Instruction* operand, int depth) {
    constexpr double kTwice = 0.1, kScalarAgain = 0.8, kAgain = 0.25;
    constexpr int kDeepest = 3;
    if (const auto copy = copies_.find(operand); copy != copies_.end())
      if (!copy->second->IsParameter() || !random_.Chance(kTwice)) return copy->second;
    const bool scalar = operand->IsConstant() && operand->shape().rank() == 0;
    if (opcode_ == Opcode::kFusion && depth < kDeepest && operand->called().empty() &&
        MayBeFused(*operand) && random_.Chance(scalar ? kScalarAgain : kAgain))
      return Take(*operand, depth + 1);
    operands_.push_back(operand);
    return copies_[operand] = body_->AddParameter(body_->parameter_count(), operand->shape());
  }

  // Passes leave operands that nothing inside reads any more. A parameter depends on no member.
  void MaybeAddUnusedParameter() {
    if (from_.parameter_count() == 0 || !random_.Chance(0.1)) return;
    Instruction* unused = random_.OneOf(from_.parameters());
    if (!unused->shape().IsArray()) return;
    operands_.push_back(unused);
    body_->AddParameter(body_->parameter_count(), unused->shape());
  }

  void SetRoot() {
    if (outputs_.size() == 1) return body_->set_root(copies_[outputs_[0]]);
    std::vector<Shape> shapes;
    std::vector<Instruction*> results;
    for (const Instruction* output : outputs_) {
      shapes.push_back(output->shape());
      results.push_back(copies_[output]);
    }
    body_->set_root(body_->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), results));
  }

  void Replace() {
    auto made = std::make_unique<Instruction>(opcode_, body_->root()->shared_shape(), operands_);
    made->set_called({body_});
    if (opcode_ == Opcode::kFusion) made->mutable_attr<FusionAttrs>().kind = PickKind();
    Instruction* caller = from_.Add(std::move(made));
    if (outputs_.size() == 1) {
      if (opcode_ == Opcode::kFusion) AliasUpdated(*caller);
      return outputs_[0]->ReplaceAllUsesWith(caller);
    }
    for (size_t k = 0; k < outputs_.size(); ++k)
      outputs_[k]->ReplaceAllUsesWith(from_.Add(Opcode::kGetTupleElement, outputs_[k]->shape(),
                                                {caller},
                                                GetTupleElementAttrs{static_cast<int64_t>(k)}));
  }

  // Kinds choose an emitter and change no value: mostly the one that XLA would give.
  FusionKind PickKind() {
    if (random_.Chance(0.15))
      return random_.OneOf(
          {FusionKind::kLoop, FusionKind::kInput, FusionKind::kOutput, FusionKind::kCustom});
    bool reduces = false;
    for (const Instruction* member : members_) {
      if (member->opcode() == Opcode::kDot || member->opcode() == Opcode::kConvolution)
        return FusionKind::kOutput;
      reduces |= member->opcode() == Opcode::kReduce || member->opcode() == Opcode::kScatter;
    }
    return reduces && random_.Chance(0.6) ? FusionKind::kInput : FusionKind::kLoop;
  }

  // A fusion that updates a slice of an operand, which nothing else reads, may do so in place.
  void AliasUpdated(Instruction& fusion) {
    const Instruction& root = *body_->root();
    if (root.opcode() != Opcode::kDynamicUpdateSlice || !root.operand(0)->IsParameter()) return;
    const int64_t number = root.operand(0)->parameter_number();
    const Instruction& updated = *fusion.operand(number);
    const bool once = std::count(fusion.operands().begin(), fusion.operands().end(), &updated) == 1;
    // The group's own members still use the operand too, until they are removed.
    const bool only_group =
        std::all_of(updated.users().begin(), updated.users().end(), [&](const Instruction* user) {
          return user == &fusion ||
                 std::find(members_.begin(), members_.end(), user) != members_.end();
        });
    if (!once || !only_group || updated.IsParameter() || updated.IsConstant() || updated.IsRoot() ||
        updated.opcode() == Opcode::kGetTupleElement || updated.opcode() == Opcode::kBitcast ||
        updated.shape() != root.shape())
      return;
    fusion.mutable_attr<FusionAttrs>().output_to_operand_aliasing = {{{}, number, {}}};
  }

  Computation& from_;
  Random& random_;
  Opcode opcode_;
  Computation* body_;
  std::vector<Instruction*> members_, operands_, outputs_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;
};

// Fuses groups of `computation`; nested: of the new fusions' bodies too.
void FuseGroups(Computation& computation, int depth, Random& random) {
  constexpr int kDeepest = 2;
  constexpr double kNested = 0.2;
  const auto groups = random.Between(1, std::max<int64_t>(1, computation.instruction_count() / 6));
  for (int64_t n = 0; n < groups; ++n) {
    std::vector<Instruction*> seeds;
    computation.ForEach([&](Instruction* i) {
      if (MayBeFused(*i) && !i->IsConstant()) seeds.push_back(i);
    });
    if (seeds.empty()) return;
    const Group group = GrowGroup(random.OneOf(seeds), MayBeFused, random);
    Computation* fused =
        Outline(computation, group, Opcode::kFusion, "fused_computation", random).Apply();
    if (depth < kDeepest && random.Chance(kNested)) FuseGroups(*fused, depth + 1, random);
  }
}

// A command buffer records kernels: fusions, library calls, and what takes their results apart.
bool IsCommand(const Instruction& i) {
  const bool result = i.opcode() == Opcode::kGetTupleElement && i.shape().IsArray();
  return MayBeFused(i) || result || i.opcode() == Opcode::kFusion;
}

}  // namespace

void OutlineFusions(Module& module, Random& random) {
  for (Computation* computation : ExecutedComputations(module))
    FuseGroups(*computation, /*depth=*/0, random);
}

void OutlineCommandBuffers(Module& module, Random& random) {
  for (int64_t buffers = random.Between(0, 2); buffers > 0; --buffers) {
    std::vector<Instruction*> seeds;
    module.entry()->ForEach([&](Instruction* i) {
      if (i->opcode() == Opcode::kFusion && i->shape().IsArray()) seeds.push_back(i);
    });
    if (seeds.empty()) return;
    const Group group = GrowGroup(random.OneOf(seeds), IsCommand, random);
    Outline(*module.entry(), group, Opcode::kCall, "command_buffer", random).Apply();
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
