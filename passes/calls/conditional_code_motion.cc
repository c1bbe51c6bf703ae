// conditional-code-motion: moves instructions across the boundary of conditionals, where that joins
// them with those that they are computed with.
// Out of the branches goes what all of them do last, if the reader of the result does more with it;
// into the branches go readers of the result, and what computes an operand that only some of the
// branches read. Conversions that all branches end with come out too, where nothing else moves.
// Matches conditionals of arrays, and of tuples that are only taken apart; PlanMotions
// (conditional_groups.h) says what pays. Equal instructions are merged before. Cost: linear in the
// module, a copy of the module where it has conditionals, and copies of shared branches.
//   y = conditional(p, a, b), branches exp(a0) and exp(b0); z = y * c
//   ->  z = exp(conditional(p, a, b)) * c, branches a0 and b0
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analysis/in_place.h"
#include "passes/calls/conditional_groups.h"
#include "passes/cleanup/cse.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/post_order_of.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

using Side = MotionGroup::Side;

Instruction* Part(Instruction* tuple, int64_t index) {
  const Shape shape = tuple->shape().elements[index];
  return tuple->parent()->Add(Opcode::kGetTupleElement, shape, {tuple},
                              GetTupleElementAttrs{index});
}

Instruction* TupleOf(Computation& c, const std::vector<Instruction*>& parts) {
  std::vector<Shape> shapes;
  for (const Instruction* part : parts) shapes.push_back(part->shape());
  return c.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts);
}

Instruction* CopyInto(Computation& c, const Instruction* i,
                      const std::vector<Instruction*>& operands) {
  return c.Add(i->CloneWith(i->shape(), operands));
}

// The readers see the branches' results, which are tuples of other parts now.
void TakeShapeOfBranches(Instruction* conditional) {
  conditional->set_shape(conditional->called(0)->root()->shape());
  if (conditional->HasExtras()) conditional->mutable_extras().sharding.reset();
}

bool EveryBranchEndsWithTuple(const Instruction* conditional) {
  return std::all_of(
      conditional->called().begin(), conditional->called().end(),
      [](const Computation* branch) { return branch->root()->opcode() == Opcode::kTuple; });
}

MotionGroup RootParts(const Instruction* conditional, int64_t index) {
  MotionGroup group{Side::kInside, {}};
  for (const Computation* branch : conditional->called())
    group.members.push_back(branch->root()->operand(index));
  return group;
}

// The branches give what stays, and what moves follows the conditional.
bool MoveOut(Instruction* conditional, const Motion& motion) {
  if (!EveryBranchEndsWithTuple(conditional)) return false;
  Computation& c = *conditional->parent();
  const std::vector<Instruction*> readers(conditional->users().begin(), conditional->users().end());
  std::vector<MotionGroup> read(readers.size());
  for (size_t k = 0; k < readers.size(); ++k)
    read[k] = RootParts(conditional, readers[k]->tuple_index());
  for (size_t b = 0; b < conditional->called().size(); ++b) {
    std::vector<Instruction*> parts;
    for (const MotionGroup& group : motion.rest) parts.push_back(group.members[b]);
    conditional->called(b)->set_root(TupleOf(*conditional->called(b), parts));
  }
  TakeShapeOfBranches(conditional);
  absl::flat_hash_map<MotionGroup, Instruction*> outside;
  for (size_t k = 0; k < motion.rest.size(); ++k)
    outside.emplace(motion.rest[k], Part(conditional, static_cast<int64_t>(k)));
  Instruction* whole = nullptr;
  for (size_t m = motion.moved.size(); m-- > 0;) {
    const MotionGroup& group = motion.moved[m];
    std::vector<Instruction*> operands;
    for (int64_t k = 0; k < group.first()->operand_count(); ++k) {
      MotionGroup operand{Side::kInside, {}};
      for (const Instruction* i : group.members) operand.members.push_back(i->operand(k));
      operands.push_back(outside.at(operand));
    }
    whole = CopyInto(c, group.first(), operands);
    outside.emplace(group, whole);
  }
  for (size_t k = 0; k < readers.size(); ++k) {
    readers[k]->ReplaceAllUsesWith(outside.at(read[k]));
    c.Remove(readers[k]);
  }
  if (conditional->IsRoot()) c.set_root(whole);
  return true;
}

// Moves readers of the result into the branches, which give their results too.
class ReadersIn {
 public:
  ReadersIn(Instruction* conditional, const Motion& motion)
      : conditional_(conditional), motion_(motion) {}

  bool Run() {
    if (conditional_->shape().IsTuple() && !EveryBranchEndsWithTuple(conditional_)) return false;
    for (const MotionGroup& group : motion_.moved) inside_[group.first()];
    for (const MotionGroup& group : motion_.moved)
      if (!CanCopy(group.first())) return false;
    for (const MotionGroup& group : motion_.moved) Copy(group.first());
    ChooseParts();
    for (size_t b = 0; b < conditional_->called().size(); ++b) {
      std::vector<Instruction*> parts;
      for (const std::vector<Instruction*>& part : parts_) parts.push_back(part[b]);
      conditional_->called(b)->set_root(TupleOf(*conditional_->called(b), parts));
    }
    TakeShapeOfBranches(conditional_);
    ReadParts();
    for (size_t m = motion_.moved.size(); m-- > 0;) {
      Instruction* i = motion_.moved[m].first();
      if (i->users().empty() && !i->IsRoot()) i->parent()->Remove(i);
    }
    return true;
  }

 private:
  bool IsPart(const Instruction* i) const {
    return i->opcode() == Opcode::kGetTupleElement && i->operand(0) == conditional_;
  }
  bool CanCopy(const Instruction* i) const {
    return std::all_of(i->operands().begin(), i->operands().end(), [&](Instruction* operand) {
      return operand == conditional_ || inside_.contains(operand) || operand->IsConstant() ||
             IsPart(operand);
    });
  }

  // The value of `i` in branch b.
  Instruction* InBranch(Instruction* i, int64_t b) {
    Computation* branch = conditional_->called(b);
    if (i == conditional_) return branch->root();
    if (IsPart(i)) return branch->root()->operand(i->tuple_index());
    if (i->IsConstant() && !inside_.contains(i)) return CopyInto(*branch, i, {});
    return inside_.at(i)[b];
  }

  void Copy(const Instruction* i) {
    std::vector<Instruction*>& copies = inside_.at(i);
    for (int64_t b = 0; b < static_cast<int64_t>(conditional_->called().size()); ++b) {
      if (IsPart(i)) {
        copies.push_back(conditional_->called(b)->root()->operand(i->tuple_index()));
        continue;
      }
      std::vector<Instruction*> operands;
      for (Instruction* operand : i->operands()) operands.push_back(InBranch(operand, b));
      copies.push_back(CopyInto(*conditional_->called(b), i, operands));
    }
  }

  bool OnlyMovedRead(const Instruction* i) const {
    return !i->IsRoot() && std::all_of(i->users().begin(), i->users().end(),
                                       [&](Instruction* user) { return inside_.contains(user); });
  }

  // What the branches give: the parts that others read still, then the results of what moved.
  void ChooseParts() {
    if (conditional_->shape().IsTuple()) {
      ChooseOldParts();
    } else if (!OnlyMovedRead(conditional_)) {
      old_value_ = 0;
      parts_.emplace_back();
      for (const Computation* branch : conditional_->called())
        parts_.back().push_back(branch->root());
    }
    for (const MotionGroup& group : motion_.moved) {
      Instruction* i = group.first();
      if (IsPart(i) || (OnlyMovedRead(i) && !i->users().empty())) continue;
      results_.emplace_back(i, static_cast<int64_t>(parts_.size()));
      parts_.push_back(inside_.at(i));
    }
  }

  void ChooseOldParts() {
    const auto parts = static_cast<int64_t>(conditional_->shape().elements.size());
    new_index_.assign(parts, -1);
    for (int64_t k = 0; k < parts; ++k) {
      const auto of_this = [&](const Instruction* i) { return i->tuple_index() == k; };
      const bool moved =
          std::any_of(conditional_->users().begin(), conditional_->users().end(), of_this) &&
          std::all_of(conditional_->users().begin(), conditional_->users().end(),
                      [&](Instruction* i) {
                        return !of_this(i) || (inside_.contains(i) && OnlyMovedRead(i));
                      });
      if (moved) continue;
      new_index_[k] = static_cast<int64_t>(parts_.size());
      parts_.push_back(RootParts(conditional_, k).members);
    }
  }

  void ReadParts() {
    const std::vector<Instruction*> readers(conditional_->users().begin(),
                                            conditional_->users().end());
    Instruction* value = old_value_ < 0 ? nullptr : Part(conditional_, old_value_);
    for (Instruction* reader : readers) {
      if (!new_index_.empty()) {
        const int64_t index = new_index_[reader->tuple_index()];
        if (index >= 0) reader->mutable_attr<GetTupleElementAttrs>().index = index;
      } else if (value != nullptr && !inside_.contains(reader)) {
        conditional_->ReplaceUseIn(reader, value);
      }
    }
    for (const auto& [i, part] : results_) i->ReplaceAllUsesWith(Part(conditional_, part));
  }

  Instruction* const conditional_;
  const Motion& motion_;
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> inside_;  // by branch
  std::vector<std::vector<Instruction*>> parts_;  // of the new result, by branch
  std::vector<std::pair<Instruction*, int64_t>> results_;
  std::vector<int64_t> new_index_;  // of old parts; -1 for those that are gone
  int64_t old_value_ = -1;          // the part that holds an array's old value
};

// Moves what computes an operand into the branches that take it. The operand becomes a tuple of
// what stays: in the places of the parts that move stands what they are computed from.
class OperandsIn {
 public:
  OperandsIn(Instruction* conditional, const Motion& motion) : conditional_(conditional) {
    for (const MotionGroup& group : motion.moved) moved_.insert(group.first());
    operand_ = motion.moved[0].first();
  }

  bool Run() {
    Instruction* given = Given(operand_);
    for (int64_t b = 0; b + 1 < conditional_->operand_count(); ++b) {
      if (conditional_->operand(b + 1) != operand_) continue;
      conditional_->SetOperand(b + 1, given);
      Instruction* parameter = conditional_->called(b)->parameter(0);
      const std::vector<Instruction*> users(parameter->users().begin(), parameter->users().end());
      const bool root = parameter->IsRoot();
      parameter->set_shape(given->shape());
      if (parameter->HasExtras()) parameter->mutable_extras().sharding.reset();
      Instruction* value = ValueIn(operand_, parameter);
      for (Instruction* user : users) parameter->ReplaceUseIn(user, value);
      if (root) parameter->parent()->set_root(value);
    }
    operand_->parent()->RemoveIfDead(operand_);
    return true;
  }

 private:
  bool Moves(const Instruction* i) const { return moved_.contains(i); }
  bool MovesAsTuple(const Instruction* i) const {
    return Moves(i) && i->opcode() == Opcode::kTuple;
  }

  // What stays and `i` is computed from, in order.
  void Sources(Instruction* i, std::vector<Instruction*>& sources) const {
    for (Instruction* operand : i->operands()) {
      if (Moves(operand))
        Sources(operand, sources);
      else if (std::find(sources.begin(), sources.end(), operand) == sources.end())
        sources.push_back(operand);
    }
  }

  // What the conditional takes in place of `i`, which moves.
  Instruction* Given(Instruction* i) {
    std::vector<Instruction*> parts;
    std::vector<int64_t> places;
    if (i->opcode() != Opcode::kTuple) {
      Sources(i, parts);
    } else {
      std::vector<Instruction*> sources;
      for (Instruction* part : i->operands()) {
        if (MovesAsTuple(part)) {
          places.push_back(static_cast<int64_t>(parts.size()));
          parts.push_back(Given(part));
        } else if (Moves(part)) {
          places.push_back(-1);
          Sources(part, sources);
        } else {
          places.push_back(static_cast<int64_t>(parts.size()));
          parts.push_back(part);
        }
      }
      for (Instruction* source : sources)
        if (std::find(parts.begin(), parts.end(), source) == parts.end()) parts.push_back(source);
    }
    places_[i] = std::move(places);
    given_[i] = parts;
    return TupleOf(*i->parent(), parts);
  }

  // The value of `i` in a branch where `from` is what Given made for it.
  Instruction* ValueIn(const Instruction* i, Instruction* from) {
    if (i->opcode() != Opcode::kTuple) return Compute(i, from, given_.at(i));
    std::vector<Instruction*> parts;
    for (int64_t k = 0; k < i->operand_count(); ++k) {
      const Instruction* part = i->operand(k);
      const int64_t place = places_.at(i)[k];
      if (place < 0)
        parts.push_back(Compute(part, from, given_.at(i)));
      else if (MovesAsTuple(part))
        parts.push_back(ValueIn(part, Part(from, place)));
      else
        parts.push_back(Part(from, place));
    }
    return TupleOf(*from->parent(), parts);
  }

  Instruction* Compute(const Instruction* i, Instruction* from,
                       const std::vector<Instruction*>& given) {
    if (const auto made = made_.find({i, from}); made != made_.end()) return made->second;
    std::vector<Instruction*> operands;
    for (Instruction* operand : i->operands()) {
      if (Moves(operand)) {
        operands.push_back(Compute(operand, from, given));
        continue;
      }
      const auto [part, fresh] = made_.try_emplace({operand, from}, nullptr);
      if (fresh)
        part->second = Part(from, std::find(given.begin(), given.end(), operand) - given.begin());
      operands.push_back(part->second);
    }
    return made_[{i, from}] = CopyInto(*from->parent(), i, operands);
  }

  Instruction* const conditional_;
  Instruction* operand_;
  absl::flat_hash_set<const Instruction*> moved_;
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> given_;
  absl::flat_hash_map<const Instruction*, std::vector<int64_t>> places_;  // of a tuple's parts
  // What was made in a branch, by what it is a copy of and the tuple that it reads.
  absl::flat_hash_map<std::pair<const Instruction*, const Instruction*>, Instruction*> made_;
};

// A conversion that stands next to another is one of a pair that others simplify.
bool IsSingleConvert(const Instruction* i) {
  return i->opcode() == Opcode::kConvert && i->operand(0)->opcode() != Opcode::kConvert &&
         std::none_of(i->users().begin(), i->users().end(),
                      [](const Instruction* user) { return user->opcode() == Opcode::kConvert; });
}

// The parts that every branch converts last, once.
Motion LastConverts(const Instruction* conditional) {
  Motion motion;
  if (!EveryBranchEndsWithTuple(conditional)) return motion;
  MotionGroup roots{Side::kInside, {}};
  for (const Computation* branch : conditional->called()) roots.members.push_back(branch->root());
  motion.moved.push_back(roots);
  const Instruction* first = roots.first();
  for (int64_t k = 0; k < first->operand_count(); ++k) {
    MotionGroup part = RootParts(conditional, k);
    const bool converts =
        std::count(first->operands().begin(), first->operands().end(), part.first()) == 1 &&
        std::all_of(part.members.begin(), part.members.end(), IsSingleConvert) &&
        SameInEachBranch(part.members);
    if (!converts) {
      motion.rest.push_back(std::move(part));
      continue;
    }
    MotionGroup source{Side::kInside, {}};
    for (Instruction* convert : part.members) source.members.push_back(convert->operand(0));
    motion.rest.push_back(std::move(source));
    motion.moved.push_back(std::move(part));
  }
  if (motion.moved.size() == 1) motion.moved.clear();
  return motion;
}

// Gives each branch that others call too a copy of its own; the groups follow.
void TakeBranches(Instruction* conditional, MotionPlan& plan, std::vector<int>& callers) {
  for (int64_t b = 0; b < static_cast<int64_t>(conditional->called().size()); ++b) {
    Computation* branch = conditional->called(b);
    if (callers[branch->id()] <= 1) continue;
    --callers[branch->id()];
    Computation* copy = branch->Clone(".clone");
    callers.resize(std::max<size_t>(callers.size(), copy->module()->computation_id_bound()), 1);
    conditional->SetCalled(b, copy);
    const std::vector<Instruction*> old = branch->PostOrder(), fresh = copy->Instructions();
    absl::flat_hash_map<const Instruction*, Instruction*> twin;
    for (size_t k = 0; k < old.size(); ++k) twin[old[k]] = fresh[k];
    for (Motion& motion : plan.motions)
      for (std::vector<MotionGroup>* groups : {&motion.moved, &motion.rest})
        for (MotionGroup& group : *groups)
          if (group.side == Side::kInside) group.members[b] = twin.at(group.members[b]);
  }
}

bool IsShared(const Instruction* conditional, const std::vector<int>& callers) {
  return std::any_of(conditional->called().begin(), conditional->called().end(),
                     [&](const Computation* branch) { return callers[branch->id()] > 1; });
}

bool Apply(Instruction* conditional, const Motion& motion) {
  switch (motion.moved[0].side) {
    case Side::kInside:
      return MoveOut(conditional, motion);
    case Side::kReader:
      return ReadersIn(conditional, motion).Run();
    case Side::kOperand:
      return OperandsIn(conditional, motion).Run();
  }
  return false;
}

bool MoveAcross(Instruction* conditional, std::vector<int>& callers, RewriteControl& control) {
  MotionPlan plan = PlanMotions(conditional);
  if (plan.motions.empty()) {
    const Motion converts = IsShared(conditional, callers) ? Motion() : LastConverts(conditional);
    return !converts.moved.empty() &&
           control.Permit("conditional-code-motion", *conditional, *conditional) &&
           MoveOut(conditional, converts);
  }
  if (!control.Permit("conditional-code-motion", *conditional, *conditional)) return false;
  TakeBranches(conditional, plan, callers);
  bool changed = false;
  absl::flat_hash_set<const Instruction*> moved;
  for (const Motion& motion : plan.motions) {
    bool again = false;  // what an earlier motion took
    for (const MotionGroup& group : motion.moved) again |= !moved.insert(group.first()).second;
    if (!again) changed |= Apply(conditional, motion);
  }
  return changed;
}

// What is passed in and out has the same layout on both sides.
bool LayoutsAgree(const Instruction* conditional) {
  for (size_t b = 0; b < conditional->called().size(); ++b) {
    const Computation& branch = *conditional->called(static_cast<int64_t>(b));
    const Instruction* operand = conditional->operand(static_cast<int64_t>(b) + 1);
    if (!SameMemoryOrder(operand->shape(), branch.parameter(0)->shape()) ||
        !SameMemoryOrder(branch.root()->shape(), conditional->shape()))
      return false;
  }
  return true;
}

// Tuples that are taken apart alone can change their parts.
bool IsCandidate(const Instruction* conditional) {
  if (!LayoutsAgree(conditional)) return false;
  return !conditional->shape().IsTuple() ||
         std::all_of(conditional->users().begin(), conditional->users().end(),
                     [](const Instruction* user) {
                       return user->opcode() == Opcode::kGetTupleElement && !user->IsRoot();
                     });
}

// True if anything moved across a boundary.
bool MoveAll(Module& module, RewriteControl& control) {
  for (Computation* c : module.ComputationsPostOrder()) {
    MergeEqual(*c);
    RemoveDead(*c);
  }
  std::vector<int> callers = CountCallers(module);
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : PostOrderOf(*c, Opcode::kConditional))
      if (IsCandidate(i)) changed |= MoveAcross(i, callers, control);
  if (!changed) return false;
  for (Computation* c : module.Computations()) {
    RemoveDead(*c);
    SimplifyTuples(*c);
    RemoveDead(*c);
  }
  RemoveUncalled(module);
  return true;
}

class PermitAll final : public RewriteControl {
 public:
  bool Permit(absl::string_view, const Instruction&, const Instruction&) override { return true; }
};

bool HasConditionals(const Module& module) {
  bool any = false;
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) { any |= i->opcode() == Opcode::kConditional; });
  return any;
}

// Merging and removing is for the motion alone: it happens where a copy shows that something moves.
absl::StatusOr<bool> MoveConditionalCode(Module& module, RewriteControl& control) {
  if (!HasConditionals(module)) return false;
  PermitAll all;
  if (!MoveAll(*module.Clone(), all)) return false;
  MoveAll(module, control);
  return true;
}

}  // namespace

std::unique_ptr<Pass> CreateConditionalCodeMotion() {
  return MakeModulePass("conditional-code-motion", MoveConditionalCode);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
