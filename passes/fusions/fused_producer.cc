// A producer computed inside of its consumer; see the header.
//   p = fusion(x) [exp], c = fusion(p, y) [add]  ->  c = fusion(y, x) [exp, add]
#include "passes/fusions/fused_producer.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace hlokit {
namespace {

class ProducerFuser {
 public:
  ProducerFuser(Instruction* producer, Instruction* consumer)
      : producer_(producer), consumer_(consumer) {}

  Instruction* Run() {
    Computation& c = *consumer_->parent();
    const bool was_fusion = consumer_->opcode() == Opcode::kFusion;
    body_ = c.module()->AddComputation(was_fusion ? consumer_->to_apply()->name()
                                                  : std::string("fused_computation"));
    for (Instruction* operand : consumer_->operands())
      if (operand != producer_) Parameter(operand);
    if (producer_ != nullptr) inside_[producer_] = CopyOf(producer_);
    body_->set_root(CopyOf(consumer_));
    Instruction* fusion =
        c.Add(Opcode::kFusion, consumer_->shape(), operands_, FusionAttrs(),
              was_fusion ? consumer_->name() : absl::StrCat(consumer_->name(), "_fusion"));
    fusion->set_called({body_});
    fusion->CopyExtrasFrom(*consumer_);
    fusion->set_place(consumer_->place());
    consumer_->ReplaceAllUsesWith(fusion);
    c.Remove(consumer_);
    return fusion;
  }

 private:
  Instruction* Parameter(Instruction* outside) {
    Instruction*& inside = inside_[outside];
    if (inside != nullptr) return inside;
    const auto number = static_cast<int64_t>(operands_.size());
    operands_.push_back(outside);
    return inside = body_->AddParameter(number, outside->shape(), absl::StrCat("param_", number));
  }

  Instruction* CopyOf(Instruction* of) {
    std::vector<Instruction*> operands;
    for (Instruction* operand : of->operands()) operands.push_back(Parameter(operand));
    return CopyOn(*of, operands);
  }

  // The work of an instruction or of a fusion's body, fusions within taken apart; gives its result.
  Instruction* CopyOn(const Instruction& of, absl::Span<Instruction* const> given) {
    if (of.opcode() != Opcode::kFusion)
      return body_->Add(of.CloneWith(of.shape(), given), of.name());
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (const Instruction* i : of.to_apply()->PostOrder()) {
      if (i->IsParameter()) {
        copies[i] = given[i->parameter_number()];
        continue;
      }
      std::vector<Instruction*> operands;
      for (const Instruction* operand : i->operands()) operands.push_back(copies.at(operand));
      copies[i] = CopyOn(*i, operands);
    }
    return copies.at(of.to_apply()->root());
  }

  Instruction *producer_, *consumer_;
  Computation* body_ = nullptr;
  std::vector<Instruction*> operands_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
};

}  // namespace

Instruction* FuseProducer(Instruction* producer, Instruction* consumer) {
  return ProducerFuser(producer, consumer).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
