// A producer computed inside of its consumer; see the header.
//   p = fusion(x) [exp], c = fusion(p, y) [add]  ->  c = fusion(y, x) [exp, add]
#include "passes/fusions/fused_producer.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "passes/fusions/fusion_rules.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/parameters.h"

namespace hlokit {
namespace {

// What stands in a fusion's body for the fusion's operands, and copies of what it takes in.
class Body {
 public:
  explicit Body(Instruction* fusion) : fusion_(fusion), body_(fusion->to_apply()) {
    for (int64_t k = 0; k < fusion->operand_count(); ++k)
      inside_[fusion->operand(k)] = body_->parameter(k);
  }

  void Take(Instruction* outside, Instruction* inside) { inside_[outside] = inside; }

  // The parameter for an operand, a new one where there is none.
  Instruction* Parameter(Instruction* outside) {
    Instruction*& inside = inside_[outside];
    if (inside != nullptr) return inside;
    const int64_t number = fusion_->operand_count();
    fusion_->AppendOperand(outside);
    return inside = body_->AddParameter(number, outside->shape(), absl::StrCat("param_", number));
  }

  Instruction* CopyOf(const Instruction& of) {
    std::vector<Instruction*> operands;
    for (Instruction* operand : of.operands()) operands.push_back(Parameter(operand));
    return CopyOn(of, operands);
  }

 private:
  // The work of an instruction or of a fusion's body, fusions within taken apart; gives its result.
  Instruction* CopyOn(const Instruction& of, absl::Span<Instruction* const> given) {
    if (of.opcode() != Opcode::kFusion)
      return body_->Add(of.CloneWith(of.shape(), given), of.name());
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (const Instruction* i : of.to_apply()->PostOrder()) {
      if (i->IsParameter()) {
        copies[i] = ArgumentFor(i, given[i->parameter_number()]);
        continue;
      }
      std::vector<Instruction*> operands;
      for (const Instruction* operand : i->operands()) operands.push_back(copies.at(operand));
      copies[i] = CopyOn(*i, operands);
    }
    return copies.at(of.to_apply()->root());
  }

  Instruction* fusion_;
  Computation* body_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
};

// A fusion without operands, and a body without instructions, beside `consumer`.
Instruction* MakeFusion(const Instruction& consumer) {
  Computation& c = *consumer.parent();
  const bool was_fusion = consumer.opcode() == Opcode::kFusion;
  Instruction* fusion =
      c.Add(Opcode::kFusion, consumer.shape(), {}, FusionAttrs(),
            was_fusion ? consumer.name() : absl::StrCat(consumer.name(), "_fusion"));
  fusion->set_called({c.module()->AddComputation(was_fusion ? consumer.to_apply()->name()
                                                            : std::string("fused_computation"))});
  fusion->CopyExtrasFrom(consumer);
  fusion->set_place(consumer.place());
  return fusion;
}

Instruction* MakeFusionOf(Instruction* producer, Instruction* consumer) {
  Instruction* fusion = MakeFusion(*consumer);
  Body body(fusion);
  for (Instruction* operand : consumer->operands())
    if (operand != producer) body.Parameter(operand);
  if (producer != nullptr) body.Take(producer, body.CopyOf(*producer));
  fusion->to_apply()->set_root(body.CopyOf(*consumer));
  consumer->ReplaceAllUsesWith(fusion);
  consumer->parent()->Remove(consumer);
  return fusion;
}

// Bodies made here have each operand once. Gives what computes the producer.
const Instruction* TakeIn(const Instruction* producer, Instruction* fusion) {
  const auto operands = fusion->operands();
  const int64_t k = std::find(operands.begin(), operands.end(), producer) - operands.begin();
  Instruction* parameter = fusion->to_apply()->parameter(k);
  Instruction* copy = Body(fusion).CopyOf(*producer);
  parameter->ReplaceAllUsesWith(ArgumentFor(parameter, copy));
  RemoveParameter(*fusion->to_apply(), k);
  fusion->RemoveOperand(k);
  return copy;
}

}  // namespace

Instruction* ProducerFuser::Fuse(Instruction* producer, Instruction* consumer) {
  if (producer != nullptr && consumer->opcode() == Opcode::kFusion &&
      bodies_.contains(consumer->to_apply())) {
    taken_ = TakeIn(producer, consumer);
    return consumer;
  }
  taken_ = nullptr;
  Instruction* fusion = MakeFusionOf(producer, consumer);
  bodies_.insert(fusion->to_apply());
  return fusion;
}

bool FuseIntoOnlyLoops(
    Computation& c,
    absl::FunctionRef<bool(const Instruction& producer, const Instruction& loop)> may_fuse) {
  ProducerFuser fuser;
  absl::flat_hash_set<const Instruction*> gone;
  bool changed = false;
  for (Instruction* producer : c.PostOrder()) {
    if (gone.contains(producer)) continue;
    Instruction* const loop = OnlyLoopOf(*producer);
    if (loop == nullptr || !may_fuse(*producer, *loop)) continue;
    if (fuser.Fuse(producer, loop) != loop) gone.insert(loop);
    if (producer->users().empty()) c.Remove(producer);
    changed = true;
  }
  return changed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
