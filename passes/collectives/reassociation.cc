// One collective of a combination, in place of a combination of collectives.
//   add(all-reduce(a), all-reduce(b))                      ->  all-reduce(add(a, b))
//   add(pad(all-reduce(a), 0), pad(all-reduce(b), 0))      ->  all-reduce(add(pad(a, 0), pad(b,
//   0))) add(dynamic-slice(all-reduce(a), i), dynamic-slice(all-reduce(b), i))
//                                                          ->  dynamic-slice(all-reduce(add(a, b)),
//                                                          i)
// The combination is the collectives' own function. Between it and an all-reduce may stand
// reshapes, slices, pads with what that function leaves alone, and, as an option, conversions that
// lose nothing; each read once. No more elements are reduced than before. Collectives of other
// groups, channels or marks (collective_keys.h) stay apart, and a module whose collectives are held
// to layouts is left alone. Reassociates floats.
#include "passes/collectives/collective_keys.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/exact_types.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsOnlyUsedOnce(const Instruction* i) {
  return i->users().size() == 1 && !i->IsRoot() && i->control_successors().empty();
}

bool IsArrayOp(const Instruction* i, Opcode opcode) {
  return i->opcode() == opcode && i->shape().IsArray() && i->operand_count() == 1;
}

// Whether two collectives combine the same devices in the same way, by `opcode`.
template <typename A>
bool AreCompatible(const Instruction& x, const Instruction& y, Opcode opcode) {
  A a = x.attr<A>(), b = y.attr<A>();
  if (a.channel_id.has_value() != b.channel_id.has_value() || GroupsOf(x) != GroupsOf(y))
    return false;
  b.channel_id = a.channel_id;
  b.replica_groups = a.replica_groups;
  return a == b && SameMarks(x, y) && ReducerOpcode(*x.to_apply()) == opcode &&
         ReducerOpcode(*y.to_apply()) == opcode;
}

// Conversions that a sum may be moved over: to a wider type of the same kind.
constexpr ExactTypeOptions kWiderOfTheSameKind = {
    .integers_as_floats = ExactTypeOptions::IntegersAsFloats::kNever,
    .floats = ExactTypeOptions::Floats::kOf16BitsAndMore,
    .unsigned_as_signed = false,
    .predicates = false,
    .same_width = false};

class Reassociation final : public Pass {
 public:
  explicit Reassociation(bool converts) : converts_(converts) {}
  absl::string_view name() const override { return "all-reduce-reassociate"; }

  absl::StatusOr<bool> Run(Module& module) override {
    if (HasConstrainedLayouts(module, Opcode::kAllReduce)) return false;
    auto pass = MakeExpander(name(), [this](Instruction* i, Rewriter& r) { return Visit(i, r); });
    pass->set_control(&control());
    return pass->Run(module);
  }

 private:
  // The all-reduce that `i` reads through what commutes with it; null where there is none.
  Instruction* AllReduceBelow(Instruction* i, Opcode opcode) const {
    if (i->opcode() == Opcode::kDynamicSlice) {
      Instruction* x = i->operand(0);
      return IsArrayOp(x, Opcode::kAllReduce) && IsOnlyUsedOnce(x) && IsOnlyUsedOnce(i) ? x
                                                                                        : nullptr;
    }
    while (i->opcode() != Opcode::kAllReduce) {
      if (!IsOnlyUsedOnce(i) || !Commutes(*i, opcode)) return nullptr;
      i = i->operand(0);
    }
    return IsArrayOp(i, Opcode::kAllReduce) && IsOnlyUsedOnce(i) ? i : nullptr;
  }

  bool Commutes(const Instruction& i, Opcode opcode) const {
    switch (i.opcode()) {
      case Opcode::kReshape:
      case Opcode::kSlice:
        return true;
      case Opcode::kPad:
        return IsIdentity(i.operand(1), opcode) ||
               (opcode == Opcode::kAdd && IsSplat(i.operand(1), 0));
      case Opcode::kConvert:
        return converts_ &&
               HoldsAllValues(i.operand(0)->shape().type, i.shape().type, kWiderOfTheSameKind);
      default:
        return false;
    }
  }

  // What stands above `reduced`, on what it reduces.
  static Instruction* Bypass(Instruction* i, const Instruction* reduced, Rewriter& r) {
    std::vector<Instruction*> chain;
    for (; i != reduced; i = i->operand(0)) chain.push_back(i);
    Instruction* x = reduced->operand(0);
    for (size_t k = chain.size(); k-- > 0;) {
      std::vector<Instruction*> operands(chain[k]->operands().begin(), chain[k]->operands().end());
      operands[0] = x;
      x = r.Clone(chain[k], chain[k]->shape(), operands);
    }
    return x;
  }

  Made Visit(Instruction* i, Rewriter& r) {
    if (i->operand_count() != 2 || !i->shape().IsArray()) return nullptr;
    Instruction* a = AllReduceBelow(i->operand(0), i->opcode());
    Instruction* b = AllReduceBelow(i->operand(1), i->opcode());
    if (a == nullptr || b == nullptr || !AreCompatible<AllReduceAttrs>(*a, *b, i->opcode()))
      return nullptr;
    if (i->operand(0)->opcode() == Opcode::kDynamicSlice ||
        i->operand(1)->opcode() == Opcode::kDynamicSlice)
      return OfSlices(i, a, b, r);
    const int64_t before = a->shape().ElementCount() + (a == b ? 0 : b->shape().ElementCount());
    if (before < i->shape().ElementCount()) return nullptr;
    if (a->shape().type != b->shape().type) return nullptr;
    Instruction* x = Bypass(i->operand(0), a, r);
    Instruction* y = i->operand(0) == i->operand(1) ? x : Bypass(i->operand(1), b, r);
    return Reduced(a, r.Clone(i, i->shape(), {x, y}), r);
  }

  // Slices at the same place: the all-reduces stay before the slice, so that it can become a
  // reduce-scatter.
  Made OfSlices(Instruction* i, Instruction* a, Instruction* b, Rewriter& r) {
    const Instruction* x = i->operand(0);
    const Instruction* y = i->operand(1);
    if (x->opcode() != y->opcode() || !SameShape(a->shape(), b->shape())) return nullptr;
    for (int64_t k = 1; k < x->operand_count(); ++k)
      if (x->operand(k) != y->operand(k)) return nullptr;
    Instruction* both = r.Add(i->opcode(), a->shape(), {a->operand(0), b->operand(0)});
    std::vector<Instruction*> operands(x->operands().begin(), x->operands().end());
    operands[0] = Reduced(a, both, r);
    return r.Clone(x, i->shape(), operands);
  }

  static Instruction* Reduced(const Instruction* like, Instruction* x, Rewriter& r) {
    Module& module = *x->module();
    Instruction* made = r.Clone(like, x->shape(), {x});
    auto& channel = made->mutable_attr<AllReduceAttrs>().channel_id;
    if (channel) channel = LargestChannel(module) + 1;
    if (x->shape().type != like->shape().type)
      made->set_called({ReducerOn(module, *like->to_apply(), x->shape().type)});
    return made;
  }

  bool converts_;
};

Made ReassociateReduceScatter(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2 || !i->shape().IsArray()) return nullptr;
  Instruction* x = i->operand(0);
  Instruction* y = i->operand(1);
  if (!IsArrayOp(x, Opcode::kReduceScatter) || !IsArrayOp(y, Opcode::kReduceScatter) ||
      !IsOnlyUsedOnce(x) || !IsOnlyUsedOnce(y) ||
      !SameShape(x->operand(0)->shape(), y->operand(0)->shape()) ||
      !AreCompatible<ReduceScatterAttrs>(*x, *y, i->opcode()))
    return nullptr;
  Instruction* both = r.Add(i->opcode(), x->operand(0)->shape(), {x->operand(0), y->operand(0)});
  Instruction* made = r.Clone(x, i->shape(), {both});
  auto& channel = made->mutable_attr<ReduceScatterAttrs>().channel_id;
  if (channel) channel = LargestChannel(*i->module()) + 1;
  return made;
}

class ScatterReassociation final : public Pass {
 public:
  absl::string_view name() const override { return "reduce-scatter-reassociate"; }
  absl::StatusOr<bool> Run(Module& module) override {
    if (HasConstrainedLayouts(module, Opcode::kReduceScatter)) return false;
    auto pass = MakeExpander(name(), ReassociateReduceScatter);
    pass->set_control(&control());
    return pass->Run(module);
  }
};

}  // namespace

// all-reduce-reassociate: option `reassociate-converted` looks through conversions to wider types
// too, and then reduces in the wider type.
std::unique_ptr<Pass> CreateAllReduceReassociate(PassArguments& arguments) {
  return std::make_unique<Reassociation>(
      arguments.Flag("reassociate-converted", "looks through conversions to wider types too"));
}

// reduce-scatter-reassociate: the same of reduce-scatters, that the combination reads directly.
std::unique_ptr<Pass> CreateReduceScatterReassociate() {
  return std::make_unique<ScatterReassociation>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
