// all-reduce-simplifier: collectives whose result can be told without sending anything.
//   all-reduce within groups of one device                       ->  the operand
//   all-gather or reduce-scatter that keeps its shape            ->  the operand
//   maximum (minimum, and, or) of what all devices hold alike    ->  the operand
//   sum of what all n devices of a group hold alike              ->  operand * n
// Alike on all replicas: constants, parameters that say so (parameter_replication={true}), what an
// all-reduce over all of them gave, and what is computed of these alone; within a group also what
// an all-reduce over the same groups gave. Integers exactly, floats up to the rounding of the sum.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsOneAllReduce(const Instruction& i) {
  return i.opcode() == Opcode::kAllReduce && i.shape().IsArray() && i.operand_count() == 1;
}

// Which instructions of a module's running computations hold the same on all replicas, by id.
class Alike {
 public:
  explicit Alike(const Module& module) : alike_(module.id_bound(), false) {
    const ModuleHeader& header = module.header();
    one_partition_ = header.num_partitions == 1;
    for (const Computation* c : module.Computations())
      for (const Instruction* i : c->PostOrder()) alike_[i->id()] = Find(*i);
  }

  // Whether the devices of each group of `collective` hold the same of its operand.
  bool Within(const Instruction& collective) const {
    const Instruction& x = *collective.operand(0);
    if (x.id() < static_cast<int64_t>(alike_.size()) && alike_[x.id()]) return true;
    if (SplatValue(&x) != nullptr) return true;
    return IsOneAllReduce(x) &&
           CollectiveGroupsOf(x)->mode() == CollectiveGroupsOf(collective)->mode() &&
           !GroupsOf(x).empty() && GroupsOf(x) == GroupsOf(collective);
  }

 private:
  bool Find(const Instruction& i) const {
    switch (i.opcode()) {
      case Opcode::kConstant:
      case Opcode::kIota:
        return true;
      case Opcode::kParameter: {
        const auto& leaves = i.attr<ParameterAttrs>().replicated;
        return one_partition_ && i.parent()->IsEntry() && !leaves.empty() &&
               absl::c_all_of(leaves, [](bool leaf) { return leaf; });
      }
      case Opcode::kAllReduce:
        return one_partition_ && GroupsOf(i).size() == 1;
      default:
        break;
    }
    // What has no operands tells devices apart or has effects; calls may do so within.
    if (i.operand_count() == 0 || i.HasSideEffect() || CollectiveGroupsOf(i)) return false;
    if (!i.called().empty() && i.opcode() != Opcode::kReduce) return false;
    if (i.opcode() == Opcode::kCustomCall || i.opcode() == Opcode::kRng) return false;
    return absl::c_all_of(i.operands(), [this](const Instruction* x) { return alike_[x->id()]; });
  }

  std::vector<bool> alike_;
  bool one_partition_ = false;
};

// x * n: the number converted to the type of x.
Instruction* Times(Instruction* x, int64_t n, HloWriter& w) {
  const ElementType type = x->shape().type;
  Instruction* factor = w.Convert(w.Integer(ElementType::kS32, n), type);
  return w.Binary(Opcode::kMultiply, x, w.Fill(x->shape(), factor));
}

Made Simplify(Instruction* i, Rewriter& r, const Alike& alike) {
  const bool moves = i->opcode() == Opcode::kAllGather || i->opcode() == Opcode::kReduceScatter;
  if ((!moves && i->opcode() != Opcode::kAllReduce) || !i->shape().IsArray() ||
      i->operand_count() != 1)
    return nullptr;
  Instruction* x = i->operand(0);
  if (moves) return SameShape(x->shape(), i->shape()) ? x : nullptr;
  const int64_t size = GroupSize(*i);
  if (size == 1 && SameShape(x->shape(), i->shape())) return x;
  const auto opcode = ReducerOpcode(*i->to_apply());
  if (!opcode || size == 0 || !alike.Within(*i)) return nullptr;
  HloWriter w(r);
  switch (*opcode) {
    case Opcode::kAdd:
      return IsPred(i->shape().type) ? nullptr : Times(x, size, w);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return x;
    default:
      return nullptr;
  }
}

class AllReduceSimplifier final : public Pass {
 public:
  absl::string_view name() const override { return "all-reduce-simplifier"; }
  absl::StatusOr<bool> Run(Module& module) override {
    const Alike alike(module);
    auto pass = MakeExpander(
        name(), [&alike](Instruction* i, Rewriter& r) { return Simplify(i, r, alike); });
    pass->set_control(&control());
    return pass->Run(module);
  }
};

}  // namespace

std::unique_ptr<Pass> CreateAllReduceSimplifier() {
  return std::make_unique<AllReduceSimplifier>();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
