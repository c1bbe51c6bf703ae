// Instructions: use lists, control edges, cloning.
#include "ir/instruction.h"

#include <algorithm>

#include "ir/computation.h"

namespace hlokit {
namespace {

// Above this many users a hash map finds a user's slot.
constexpr size_t kManyUsers = 16;

void Erase(std::vector<Instruction*>& list, const Instruction* item) {
  auto found = std::find(list.begin(), list.end(), item);
  if (found != list.end()) list.erase(found);
}

}  // namespace

Instruction::Instruction(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands)
    : opcode_(opcode), shape_(std::move(shape)), attributes_(MakeAttributes(opcode)) {
  operands_.reserve(operands.size());
  for (Instruction* operand : operands) AppendOperand(operand);
}

Instruction::~Instruction() = default;

Module* Instruction::module() const { return parent_ ? parent_->module() : nullptr; }

bool Instruction::IsRoot() const { return parent_ != nullptr && parent_->root() == this; }

void Instruction::AddUser(Instruction* user) {
  if (user_slots_) {
    if (!user_slots_->try_emplace(user, users_.size()).second) return;
    users_.push_back(user);
    return;
  }
  if (std::find(users_.begin(), users_.end(), user) != users_.end()) return;
  users_.push_back(user);
  if (users_.size() < kManyUsers) return;
  user_slots_ = std::make_unique<absl::flat_hash_map<Instruction*, int64_t>>();
  for (size_t i = 0; i < users_.size(); ++i) (*user_slots_)[users_[i]] = static_cast<int64_t>(i);
}

void Instruction::RemoveUser(Instruction* user) {
  if (!user_slots_) {
    Erase(users_, user);
    return;
  }
  auto found = user_slots_->find(user);
  if (found == user_slots_->end()) return;
  const int64_t slot = found->second;
  user_slots_->erase(found);
  if (slot + 1 != static_cast<int64_t>(users_.size())) {
    users_[slot] = users_.back();
    (*user_slots_)[users_[slot]] = slot;
  }
  users_.pop_back();
}

bool Instruction::Uses(const Instruction* operand) const {
  return std::find(operands_.begin(), operands_.end(), operand) != operands_.end();
}

void Instruction::SetOperand(int64_t i, Instruction* operand) {
  Instruction* old = operands_[i];
  if (old == operand) return;
  operands_[i] = operand;
  if (old != nullptr && !Uses(old)) old->RemoveUser(this);
  if (operand != nullptr) operand->AddUser(this);
}

void Instruction::AppendOperand(Instruction* operand) {
  operands_.push_back(operand);
  if (operand != nullptr) operand->AddUser(this);
}

void Instruction::RemoveOperand(int64_t i) {
  Instruction* old = operands_[i];
  operands_.erase(operands_.begin() + i);
  if (old != nullptr && !Uses(old)) old->RemoveUser(this);
}

void Instruction::ReplaceUseIn(Instruction* user, Instruction* other) {
  for (int64_t i = 0; i < user->operand_count(); ++i)
    if (user->operand(i) == this) user->SetOperand(i, other);
}

void Instruction::ReplaceAllUsesWith(Instruction* other) {
  if (other == this) return;
  const std::vector<Instruction*> users(users_.begin(), users_.end());
  for (Instruction* user : users)
    if (user != other) ReplaceUseIn(user, other);
  if (IsRoot()) parent_->set_root(other);
}

bool Instruction::SameAttributes(const Instruction& other) const {
  return opcode_ == other.opcode_ && called_ == other.called_ &&
         (attributes_ == nullptr || attributes_->Equals(*other.attributes_));
}

void Instruction::AddControlPredecessor(Instruction* before) {
  std::vector<Instruction*>& all = control_predecessors_;
  std::vector<Instruction*>& others = before->control_successors_;
  const bool known = all.size() < others.size()
                         ? std::find(all.begin(), all.end(), before) != all.end()
                         : std::find(others.begin(), others.end(), this) != others.end();
  if (known) return;
  all.push_back(before);
  others.push_back(this);
}

void Instruction::DropControlEdges() {
  for (Instruction* p : control_predecessors_) Erase(p->control_successors_, this);
  for (Instruction* s : control_successors_) Erase(s->control_predecessors_, this);
  control_predecessors_.clear();
  control_successors_.clear();
}

const InstructionExtras& Instruction::extras() const {
  static const InstructionExtras* const none = new InstructionExtras;
  return extras_ ? *extras_ : *none;
}

InstructionExtras& Instruction::mutable_extras() {
  if (!extras_) extras_ = std::make_unique<InstructionExtras>();
  return *extras_;
}

void Instruction::CopyExtrasFrom(const Instruction& from) {
  if (!from.extras_) return;
  InstructionExtras& to = mutable_extras();
  to.metadata = from.extras_->metadata;
  to.frontend_attributes = from.extras_->frontend_attributes;
  if (from.extras_->sharding) to.sharding = std::make_unique<Sharding>(*from.extras_->sharding);
}

bool Instruction::HasSideEffect() const {
  if (HasTrait(opcode_, kSideEffect)) return true;
  if (opcode_ == Opcode::kRng) return true;
  if (opcode_ == Opcode::kCustomCall && attr<CustomCallAttrs>().has_side_effect) return true;
  for (const Computation* c : called_)
    for (const Instruction* i : c->Instructions())
      if (i->HasSideEffect()) return true;
  return false;
}

std::unique_ptr<Instruction> Instruction::CloneWith(Shape shape,
                                                    absl::Span<Instruction* const> operands) const {
  auto clone = std::make_unique<Instruction>(opcode_, std::move(shape), operands);
  clone->name_ = name_;
  if (attributes_) clone->attributes_ = attributes_->Clone();
  clone->called_ = called_;
  clone->place_ = place_;
  if (extras_) {
    clone->CopyExtrasFrom(*this);
    InstructionExtras& to = clone->mutable_extras();
    to.backend_config = extras_->backend_config;
    to.backend_config_is_raw = extras_->backend_config_is_raw;
    to.statistics = extras_->statistics;
    to.origin = extras_->origin;
    to.unknown = extras_->unknown;
  }
  return clone;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
