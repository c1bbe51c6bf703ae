// dynamic_padder: replaces bounded dynamic shapes with static ones at their bounds, with masks.
// Matches dimensions that set-dimension-size, dynamic-reshape or the entry's parameters make
// dynamic, and what they flow into, through tuples, loops, branches and calls. Leaves arrays at
// their bounds, with a scalar s32 that says each size: sums and products over a dynamic dimension
// read the reduction's identity (or zero) beyond it, sorts put what is beyond last, concatenations
// place one part after the other, reshapes and transforms compute where elements come from,
// get-dimension-size is the scalar. In tuples and loops' state an array of dynamic size becomes a
// tuple of the array and its sizes. The entry's dynamic parameters and results keep their shapes:
// set-dimension-size stands between them and the rest, as around custom calls that are not known
// and infeeds. Errors: Unimplemented, before anything is changed, for an instruction whose result
// depends on elements beyond a size in another way (a collective, a fusion); with the option
// keep-unknown such modules stay as they are, those with unknown custom calls too. InvalidArgument
// for a size that is no s32.
// Cost: linear, but that a transform of dynamic length n becomes a product with n x n numbers.
//   reduce-sum(f32[<=8] x)  ->  reduce-sum(select(iota < size(x), x, 0)) of f32[8]
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "ops/infer/dynamic_dimensions.h"
#include "passes/dynamic/dynamic_arrays_internal.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/dead_code.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Hands values on as they are, in tuples too.
bool CarriesValues(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kOptimizationBarrier:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
      return true;
    default:
      return false;
  }
}

bool RunsComputations(const Instruction& i) {
  return i.opcode() == Opcode::kWhile || i.opcode() == Opcode::kConditional ||
         i.opcode() == Opcode::kCall;
}

const PadRule* FindRule(Opcode opcode) {
  for (const absl::Span<const PadRule> rules :
       {PadSumRules(), PadOrderRules(), PadMovementRules(), PadIndexRules(), PadSolverRules()})
    for (const PadRule& rule : rules)
      if (rule.opcode == opcode) return &rule;
  return nullptr;
}

// What needs no rule of its own: elements go along with those of the operands.
bool GoesAlong(const Instruction& i) {
  return i.shape().IsArray() && i.called().empty() && !i.HasSideEffect() && AllGoAlong(i);
}

bool CanPad(const Instruction& i) {
  if (i.shape().HasUnboundedDims()) return false;
  if (i.IsParameter()) return !i.parent()->IsEntry() || i.shape().IsArray();
  if (CarriesValues(i)) return true;
  const PadRule* rule = FindRule(i.opcode());
  return rule != nullptr ? rule->can(i) : GoesAlong(i);
}

// What is not known gets and gives arrays that are dynamic still: a custom call, data from outside.
bool IsForeign(const Instruction& i) {
  return (i.opcode() == Opcode::kCustomCall || i.opcode() == Opcode::kInfeed) && !CanPad(i) &&
         !i.shape().HasUnboundedDims();
}

class Padder {
 public:
  explicit Padder(Computation& c) : c_(c), a_(c) {}

  void Run() {
    for (Instruction* i : c_.PostOrder()) {
      if (!TouchesDynamic(*i)) {
        ReadPadded(i);
        continue;
      }
      a_.rewriter().set_subject(i);
      Visit(i);
    }
    c_.set_root(c_.IsEntry() ? a_.Left(c_.root()) : a_.Carry(c_.root()));
    RemoveReplaced();
    for (const auto& [parameter, stands] : parameters_) {
      stands->ReplaceAllUsesWith(parameter);
      c_.Remove(stands);
      parameter->set_shape(Carried(parameter->shape()));
    }
  }

 private:
  // What has no dynamic dimension stays, such as an outfeed, and reads what was made in the places
  // of its operands.
  void ReadPadded(Instruction* i) {
    for (int64_t k = 0; k < i->operand_count(); ++k)
      if (a_.Stands(i->operand(k))) i->SetOperand(k, a_.Padded(i->operand(k)));
  }

  void Visit(Instruction* i) {
    if (i->IsParameter()) return c_.IsEntry() ? Enter(i) : EnterInner(i);
    if (i->opcode() == Opcode::kGetTupleElement)
      return a_.NoteCarried(
          i, a_.w().Part(a_.Padded(i->operand(0)), i->attr<GetTupleElementAttrs>().index));
    if (CarriesValues(*i)) return Carry(i);
    if (IsForeign(*i)) return Keep(i);
    const PadRule* rule = FindRule(i->opcode());
    if (rule != nullptr) return rule->pad(a_, i);
    if (HasTrait(i->opcode(), kElementwise)) return PadElementwise(a_, i);
    a_.NoteAlong(i, a_.CloneAtBounds(i));
  }

  void Carry(Instruction* i) {
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) operands.push_back(a_.Carry(x));
    a_.NoteCarried(i, a_.rewriter().Clone(i, Carried(i->shape()), operands));
    if (RunsComputations(*i)) replaced_.push_back(i);
  }

  void Keep(Instruction* i) {
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) operands.push_back(a_.Left(x));
    a_.NoteKept(i, a_.rewriter().Clone(i, i->shape(), operands));
    replaced_.push_back(i);
  }

  // Of the entry: the border between sizes as XLA has them and sizes as values.
  void Enter(Instruction* parameter) {
    if (parameter->IsRoot()) return;
    Instruction* x = parameter;
    DynamicArrays::Sizes sizes(x->shape().rank(), nullptr);
    for (int d = 0; d < parameter->shape().rank(); ++d) {
      if (!parameter->shape().IsDynamic(d)) continue;
      sizes[d] = a_.rewriter().Add(Opcode::kGetDimensionSize, RowMajor(ElementType::kS32, {}),
                                   {parameter}, DimensionsAttrs{{d}});
      x = a_.Sized(x, d, a_.Int(x->shape().dims[d]), /*dynamic=*/false);
    }
    a_.Note(parameter, x, std::move(sizes));
  }

  // Takes its new shape at the end: until then rules look at the old one.
  void EnterInner(Instruction* parameter) {
    Instruction* stands =
        a_.rewriter().Add(Opcode::kCopy, Carried(parameter->shape()), {parameter});
    parameters_.push_back({parameter, stands});
    a_.NoteCarried(parameter, stands);
  }

  // Loops and branches may have side effects, which dead code keeps.
  void RemoveReplaced() {
    RemoveDead(c_);
    for (auto i = replaced_.rbegin(); i != replaced_.rend(); ++i) {
      if (!Lives(*i)) continue;
      c_.Remove(*i);
      RemoveDead(c_);
    }
  }

  bool Lives(const Instruction* i) const {
    bool lives = false;
    c_.ForEach([&](const Instruction* other) { lives |= other == i; });
    return lives;
  }

  Computation& c_;
  DynamicArrays a_;
  std::vector<Instruction*> replaced_;
  std::vector<std::pair<Instruction*, Instruction*>> parameters_;
};

// The entry, and what its loops, branches, calls and asynchronous calls run; callees before
// callers. An asynchronous call of dynamic arrays has no rule: inside its body sizes begin and end.
std::vector<Computation*> Running(const Module& module) {
  std::vector<Computation*> found = {module.entry()};
  absl::flat_hash_set<const Computation*> seen(found.begin(), found.end());
  for (size_t k = 0; k < found.size(); ++k)
    found[k]->ForEach([&](const Instruction* i) {
      if (!RunsComputations(*i) && i->opcode() != Opcode::kAsyncStart) return;
      for (Computation* c : i->called())
        if (seen.insert(c).second) found.push_back(c);
    });
  std::reverse(found.begin(), found.end());
  return found;
}

// Most modules have none: to tell costs what their shapes have in parts, not what each reader of a
// tuple costs.
bool HasDynamicShape(absl::Span<Computation* const> computations) {
  bool found = false;
  for (const Computation* c : computations)
    c->ForEach([&](const Instruction* i) { found = found || i->shape().HasDynamicDims(); });
  return found;
}

class DynamicPadder final : public Pass {
 public:
  explicit DynamicPadder(bool keep_unknown) : keep_unknown_(keep_unknown) {}
  absl::string_view name() const override { return "dynamic_padder"; }

  absl::StatusOr<bool> Run(Module& module) override {
    if (HidesDynamicDimensions(module)) {
      const std::unique_ptr<Module> declared = module.Clone();
      DeclareDynamicDimensions(*declared);
      ASSIGN_OR_RETURN(const bool pads, PadsSome(*declared));
      if (!pads) return false;
      DeclareDynamicDimensions(module);
    }
    std::vector<Computation*> dynamic;
    ASSIGN_OR_RETURN(const bool pads, PadsSome(module, &dynamic));
    if (!pads) return false;
    for (Computation* c : dynamic) Padder(*c).Run();
    return !dynamic.empty();
  }

 private:
  // Whether the pass takes the module. `found`: the computations with something to pad.
  absl::StatusOr<bool> PadsSome(const Module& module,
                                std::vector<Computation*>* found = nullptr) const {
    const std::vector<Computation*> running = Running(module);
    const bool any = HasDynamicShape(running);
    for (Computation* c : running) {
      bool touches = false;
      for (const Instruction* i : c->Instructions()) {
        if (i->opcode() == Opcode::kGetDimensionSize && i->shape().type != ElementType::kS32)
          return InvalidArgument(i->name(), " gives a size as ", Text(i->shape()),
                                 ", not as s32[]");
        if (!any || !TouchesDynamic(*i)) continue;
        touches = true;
        if (CanPad(*i) || (IsForeign(*i) && !keep_unknown_)) continue;
        if (keep_unknown_) return false;
        return Unimplemented(i->name(), " = ", Text(i->opcode()), " over a dynamic dimension");
      }
      if (touches && !(c->IsEntry() && IsDone(*c)) && found != nullptr) found->push_back(c);
    }
    return true;
  }

  // Only sizes at the borders are left.
  static bool IsDone(const Computation& entry) {
    for (const Instruction* i : entry.Instructions()) {
      if (!TouchesDynamic(*i) || i->IsParameter() || IsForeign(*i)) continue;
      const bool border = i->opcode() == Opcode::kSetDimensionSize ||
                          (i->opcode() == Opcode::kTuple && (i->IsRoot() || IsPartOfRoot(*i))) ||
                          (i->opcode() == Opcode::kTuple && FeedsForeign(*i)) ||
                          IsPartOfForeign(*i) ||
                          (i->opcode() == Opcode::kGetDimensionSize &&
                           (i->operand(0)->IsParameter() || IsPartOfForeign(*i->operand(0))));
      if (!border) return false;
      if (i->opcode() != Opcode::kSetDimensionSize) continue;
      const bool enters = !i->shape().HasDynamicDims();
      if (enters) continue;
      for (const Instruction* user : i->users())
        if (user->opcode() != Opcode::kSetDimensionSize && !user->IsRoot() &&
            !IsPartOfRoot(*user) && !IsForeign(*user) && !FeedsForeign(*user))
          return false;
    }
    return true;
  }

  // A tuple that only what is foreign takes; and a part of what that gives.
  static bool FeedsForeign(const Instruction& i) {
    return i.opcode() == Opcode::kTuple && !i.users().empty() &&
           std::all_of(i.users().begin(), i.users().end(), [](const Instruction* user) {
             return IsForeign(*user) || FeedsForeign(*user);
           });
  }
  static bool IsPartOfForeign(const Instruction& i) {
    const Instruction* x = &i;
    while (x->opcode() == Opcode::kGetTupleElement) x = x->operand(0);
    return IsForeign(*x);
  }

  // A tuple within the tuple that the entry gives.
  static bool IsPartOfRoot(const Instruction& i) {
    if (i.opcode() != Opcode::kTuple) return false;
    return std::all_of(i.users().begin(), i.users().end(), [](const Instruction* user) {
      return user->opcode() == Opcode::kTuple && (user->IsRoot() || IsPartOfRoot(*user));
    });
  }

  bool keep_unknown_;
};

}  // namespace

std::unique_ptr<Pass> CreateDynamicPadder(PassArguments& arguments) {
  return std::make_unique<DynamicPadder>(
      arguments.Flag("keep-unknown", "leave modules alone that hold what is not known"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
