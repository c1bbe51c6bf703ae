// What instructions and computations ask of what they lie in: the module gives ids and unique
// names, a computation knows its root, and only the module knows who calls whom. It stands here, so
// that instruction.cc needs no computation and computation.cc no module.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ir/module.h"

namespace hlokit {

Module* Instruction::module() const { return parent_ ? parent_->module() : nullptr; }

bool Instruction::IsRoot() const { return parent_ != nullptr && parent_->root() == this; }

void Instruction::ReplaceAllUsesWith(Instruction* other) {
  if (other == this) return;
  const std::vector<Instruction*> users(users_.begin(), users_.end());
  for (Instruction* user : users)
    if (user != other) ReplaceUseIn(user, other);
  if (IsRoot()) parent_->set_root(other);
}

namespace {

bool HasOwnSideEffect(const Instruction& i) {
  return HasTrait(i.opcode(), kSideEffect) || i.opcode() == Opcode::kRng ||
         (i.opcode() == Opcode::kCustomCall && i.attr<CustomCallAttrs>().has_side_effect);
}

// What an async-update or async-done waits for; else `i` itself.
const Instruction* StartOf(const Instruction* i) {
  while ((i->opcode() == Opcode::kAsyncUpdate || i->opcode() == Opcode::kAsyncDone) &&
         i->operand_count() > 0)
    i = i->operand(0);
  return i;
}

}  // namespace

bool Instruction::HasSideEffect() const {
  const Instruction* start = StartOf(this);
  if (HasOwnSideEffect(*start)) return true;
  if (start->called().empty()) return false;
  // Each computation is looked at once, however many calls lead to it.
  absl::flat_hash_set<const Computation*> seen(start->called().begin(), start->called().end());
  std::vector<const Computation*> work(seen.begin(), seen.end());
  while (!work.empty()) {
    const Computation* c = work.back();
    work.pop_back();
    for (const Instruction* i : c->Instructions()) {
      if (HasOwnSideEffect(*i)) return true;
      for (const Computation* called : i->called())
        if (seen.insert(called).second) work.push_back(called);
    }
  }
  return false;
}

bool Computation::IsEntry() const { return module_ != nullptr && module_->entry() == this; }

Instruction* Computation::Adopt(std::unique_ptr<Instruction> instruction) {
  Instruction* added = instruction.get();
  added->parent_ = this;
  added->id_ = static_cast<int32_t>(module_->next_id_++);
  added->slot_ = static_cast<int32_t>(slots_.size());
  slots_.push_back(std::move(instruction));
  ++live_;
  return added;
}

Instruction* Computation::Add(std::unique_ptr<Instruction> instruction, absl::string_view name) {
  Instruction* added = Adopt(std::move(instruction));
  if (name.empty())
    name = added->name_.empty() ? Text(added->opcode()) : absl::string_view(added->name_);
  added->name_ = module_->UniqueName(name);
  if (added->IsParameter()) {
    const int64_t number = added->parameter_number();
    if (number >= parameter_count()) parameters_.resize(number + 1, nullptr);
    parameters_[number] = added;
  }
  return added;
}

std::vector<Instruction*> Computation::Callers() const {
  std::vector<Instruction*> callers;
  for (Computation* c : module_->Computations())
    for (const auto& slot : c->slots_)
      if (slot &&
          std::find(slot->called().begin(), slot->called().end(), this) != slot->called().end())
        callers.push_back(slot.get());
  return callers;
}

namespace {

// With all called computations shared.
Computation* CloneShallow(const Computation& c, absl::string_view suffix) {
  Computation* copy = c.module()->AddComputation(absl::StrCat(c.name(), suffix));
  copy->set_execution_thread(c.execution_thread());
  copy->set_place(c.place());
  absl::flat_hash_map<const Instruction*, Instruction*> map;
  std::vector<Instruction*> operands;
  for (Instruction* i : c.PostOrder()) {
    operands.clear();
    for (Instruction* operand : i->operands()) operands.push_back(map.at(operand));
    Instruction* added = copy->Add(i->CloneWith(i->shared_shape(), operands));
    for (Instruction* before : i->control_predecessors())
      added->AddControlPredecessor(map.at(before));
    map[i] = added;
  }
  copy->set_root(c.root() != nullptr ? map.at(c.root()) : nullptr);
  std::vector<Instruction*> schedule;
  for (Instruction* i : c.schedule()) schedule.push_back(map.at(i));
  copy->set_schedule(std::move(schedule));
  return copy;
}

}  // namespace

Computation* Computation::Clone(absl::string_view suffix) const {
  Computation* const copy = CloneShallow(*this, suffix);
  std::vector<Computation*> work = {copy};
  while (!work.empty()) {
    const Computation* c = work.back();
    work.pop_back();
    for (Instruction* i : c->Instructions()) {
      if (i->opcode() != Opcode::kFusion) continue;
      i->SetCalled(0, CloneShallow(*i->called(0), suffix));
      work.push_back(i->called(0));
    }
  }
  return copy;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
