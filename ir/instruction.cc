// Instructions: use lists, control edges, cloning.
//
// An instruction's users_ lists each user once, however often it uses the value. Removing a user
// from a list of n is linear; above kManyUsers a hash map from users to slots makes it O(1), so
// that constants with thousands of users stay cheap. Above kManyOperands another map tells where an
// operand stands, so that replacing all operands of a tuple one by one is linear. Operands, users
// and names are kept consistent here and nowhere else: only SetOperand, ReplaceAllUsesWith
// (parents.cc), AppendOperand and Remove change use lists.
#include "ir/instruction.h"

#include <algorithm>

namespace hlokit {
namespace {

// Above this many users a hash map finds a user's slot.
constexpr size_t kManyUsers = 16;
// Above this many operands a hash map finds an operand's positions.
constexpr size_t kManyOperands = 64;

template <typename List>
void Erase(List& list, const Instruction* item) {
  auto found = std::find(list.begin(), list.end(), item);
  if (found != list.end()) list.erase(found);
}

}  // namespace

Instruction::Instruction(Opcode opcode, Shared<Shape> shape,
                         absl::Span<Instruction* const> operands)
    : shape_(std::move(shape)),
      operands_(operands.begin(), operands.end()),
      attributes_(MakeAttributes(opcode)),
      opcode_(opcode) {
  for (Instruction* operand : operands)
    if (operand != nullptr && !operand->IsLatestUser(this)) operand->AddUser(this);
}

Instruction::~Instruction() = default;

// Where each user stands among users_; made when first asked for.
absl::flat_hash_map<Instruction*, int64_t>& Instruction::UserSlots() {
  auto& slots = mutable_rare().user_slots;
  if (slots.empty())
    for (size_t i = 0; i < users_.size(); ++i) slots[users_[i]] = static_cast<int64_t>(i);
  return slots;
}

// `user` is none yet.
void Instruction::AddUser(Instruction* user) {
  if (HasUserSlots()) rare_->user_slots[user] = static_cast<int64_t>(users_.size());
  users_.push_back(user);
}

void Instruction::RemoveUser(Instruction* user) {
  if (users_.size() < kManyUsers && !HasUserSlots()) {
    Erase(users_, user);
    return;
  }
  auto& slots = UserSlots();
  auto found = slots.find(user);
  if (found == slots.end()) return;
  const int64_t slot = found->second;
  slots.erase(found);
  if (slot + 1 != static_cast<int64_t>(users_.size())) {
    users_[slot] = users_.back();
    slots[users_[slot]] = slot;
  }
  users_.pop_back();
}

bool Instruction::Uses(const Instruction* operand) const {
  return std::find(operands_.begin(), operands_.end(), operand) != operands_.end();
}

// The positions of each operand, in no order; made when first asked for.
absl::flat_hash_map<const Instruction*, std::vector<int64_t>>& Instruction::OperandSlots() {
  auto& slots = mutable_rare().operand_slots;
  if (slots.empty())
    for (size_t i = 0; i < operands_.size(); ++i)
      slots[operands_[i]].push_back(static_cast<int64_t>(i));
  return slots;
}

void Instruction::SetOneOfMany(int64_t i, Instruction* operand) {
  auto& slots = OperandSlots();
  Instruction* old = operands_[i];
  std::vector<int64_t>& now = slots[operand];
  if (operand != nullptr && now.empty()) operand->AddUser(this);
  now.push_back(i);
  operands_[i] = operand;
  const auto before = slots.find(old);
  std::vector<int64_t>& left = before->second;
  std::swap(*std::find(left.rbegin(), left.rend(), i), left.back());
  left.pop_back();
  if (!left.empty()) return;
  slots.erase(before);
  if (old != nullptr) old->RemoveUser(this);
}

void Instruction::SetOperand(int64_t i, Instruction* operand) {
  Instruction* old = operands_[i];
  if (old == operand) return;
  if (operands_.size() > kManyOperands) return SetOneOfMany(i, operand);
  if (operand != nullptr && !Uses(operand)) operand->AddUser(this);
  operands_[i] = operand;
  if (old != nullptr && !Uses(old)) old->RemoveUser(this);
}

void Instruction::AppendOperand(Instruction* operand) {
  constexpr size_t kFew = 16;
  const bool used =
      operand == nullptr || operand->IsLatestUser(this) ||
      (operands_.size() <= kFew ? Uses(operand) : operand->UserSlots().contains(this));
  if (!used) operand->AddUser(this);
  if (rare_) rare_->operand_slots.clear();
  operands_.push_back(operand);
}

void Instruction::RemoveOperand(int64_t i) {
  Instruction* old = operands_[i];
  if (rare_) rare_->operand_slots.clear();
  operands_.erase(operands_.begin() + i);
  if (old != nullptr && !Uses(old)) old->RemoveUser(this);
}

void Instruction::ReplaceUseIn(Instruction* user, Instruction* other) {
  if (user->operands_.size() > kManyOperands) {
    const std::vector<int64_t> uses = user->OperandSlots()[this];
    // From the last, which the list of positions finds and drops at once.
    for (auto i = uses.rbegin(); i != uses.rend(); ++i) user->SetOperand(*i, other);
    return;
  }
  for (int64_t i = 0; i < user->operand_count(); ++i)
    if (user->operand(i) == this) user->SetOperand(i, other);
}

bool Instruction::SameAttributes(const Instruction& other) const {
  return opcode_ == other.opcode_ && called() == other.called() &&
         (attributes_ == nullptr || attributes_->Equals(*other.attributes_));
}

const Instruction::Rare& Instruction::kNothingRare = *new Rare;

void Instruction::set_called(std::vector<Computation*> called) {
  if (!called.empty() || rare_) mutable_rare().called = std::move(called);
}

void Instruction::AddControlPredecessor(Instruction* before) {
  std::vector<Instruction*>& all = mutable_rare().before;
  std::vector<Instruction*>& others = before->mutable_rare().after;
  const bool known = all.size() < others.size()
                         ? std::find(all.begin(), all.end(), before) != all.end()
                         : std::find(others.begin(), others.end(), this) != others.end();
  if (known) return;
  all.push_back(before);
  others.push_back(this);
}

void Instruction::DropControlEdges() {
  if (!rare_) return;
  for (Instruction* p : rare_->before) Erase(p->mutable_rare().after, this);
  for (Instruction* s : rare_->after) Erase(s->mutable_rare().before, this);
  rare_->before.clear();
  rare_->after.clear();
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
  if (from.metadata_.empty() && !from.extras_) return;
  metadata_ = from.metadata_;
  if (!from.extras_) return;
  InstructionExtras& to = mutable_extras();
  to.frontend_attributes = from.extras_->frontend_attributes;
  if (from.extras_->sharding) to.sharding = std::make_unique<Sharding>(*from.extras_->sharding);
}

std::unique_ptr<Instruction> Instruction::CloneWith(Shared<Shape> shape,
                                                    absl::Span<Instruction* const> operands) const {
  auto clone = std::make_unique<Instruction>(opcode_, std::move(shape), operands);
  clone->name_ = name_;
  if (attributes_) clone->attributes_ = attributes_->Clone();
  clone->set_called(rare().called);
  clone->place_ = place_;
  clone->CopyExtrasFrom(*this);
  if (extras_) {
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
