// Computations: ownership of instructions, orders, removal, cloning.
//
// Instructions live in slots with stable addresses; removing one leaves a hole, and the slots are
// compacted when more than half are holes, so removal is O(1) amortized. Post orders are computed
// with an explicit stack: operands first, roots in the order in which they were added, so the order
// is deterministic.
#include "ir/computation.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "ir/liveness.h"
#include "ir/module.h"

namespace hlokit {

Computation::~Computation() = default;

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

Instruction* Computation::Add(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                              absl::string_view name) {
  return Add(std::make_unique<Instruction>(opcode, std::move(shape), operands), name);
}

Instruction* Computation::AddConstant(Literal literal, absl::string_view name) {
  Shape shape = literal.shape();
  if (shape.IsArray() && !shape.has_layout) shape = shape.WithDefaultLayout();
  ConstantAttrs attributes{std::make_shared<const Literal>(std::move(literal))};
  return Add(Opcode::kConstant, std::move(shape), {}, std::move(attributes), name);
}

Instruction* Computation::AddParameter(int64_t number, Shape shape, absl::string_view name) {
  auto parameter = std::make_unique<Instruction>(Opcode::kParameter, std::move(shape),
                                                 absl::Span<Instruction* const>());
  parameter->mutable_attr<ParameterAttrs>().number = number;
  return Add(std::move(parameter), name);
}

void Computation::Remove(Instruction* instruction) {
  CHECK(instruction->parent_ == this && instruction->users_.empty() && root_ != instruction);
  instruction->DropControlEdges();
  for (Instruction* operand : instruction->operands_)
    if (operand != nullptr) operand->RemoveUser(instruction);
  if (instruction->IsParameter()) {
    auto found = std::find(parameters_.begin(), parameters_.end(), instruction);
    if (found != parameters_.end()) *found = nullptr;
  }
  slots_[instruction->slot_].reset();
  if (--live_ * 2 > static_cast<int64_t>(slots_.size()) || slots_.size() < 64) return;
  std::erase(slots_, nullptr);
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i]->slot_ = static_cast<int32_t>(i);
}

// Linear in what is removed: a removed instruction queues its operands.
int64_t Computation::RemoveIfDead(Instruction* dead) {
  int64_t removed = 0;
  std::vector<Instruction*> work = {dead};
  while (!work.empty()) {
    Instruction* next = work.back();
    work.pop_back();
    if (!IsDead(*next)) continue;
    std::vector<Instruction*> operands(next->operands().begin(), next->operands().end());
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    Remove(next);
    ++removed;
    for (Instruction* operand : operands)
      if (operand->users().empty()) work.push_back(operand);
  }
  return removed;
}

void Computation::RebuildParameters() {
  parameters_.clear();
  for (const auto& slot : slots_) {
    if (!slot || !slot->IsParameter()) continue;
    const int64_t number = slot->parameter_number();
    if (number >= parameter_count()) parameters_.resize(number + 1, nullptr);
    parameters_[number] = slot.get();
  }
}

std::vector<Instruction*> Computation::Instructions() const {
  std::vector<Instruction*> out;
  out.reserve(live_);
  for (const auto& slot : slots_)
    if (slot) out.push_back(slot.get());
  return out;
}

std::vector<Instruction*> Computation::PostOrder() const {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(slots_.size(), kNew);
  std::vector<Instruction*> order, stack;
  order.reserve(live_);
  auto visit = [&](Instruction* from) {
    stack.push_back(from);
    while (!stack.empty()) {
      Instruction* top = stack.back();
      uint8_t& mark = state[top->slot_];
      if (mark != kNew) {
        stack.pop_back();
        if (mark == kOpen) order.push_back(top);
        mark = kDone;
        continue;
      }
      mark = kOpen;
      for (int64_t i = top->operand_count() - 1; i >= 0; --i)
        if (state[top->operand(i)->slot_] == kNew) stack.push_back(top->operand(i));
      for (Instruction* before : top->control_predecessors())
        if (state[before->slot_] == kNew) stack.push_back(before);
    }
  };
  for (const auto& slot : slots_)
    if (slot && slot->users_.empty()) visit(slot.get());
  if (static_cast<int64_t>(order.size()) <
      live_)  // cycles (before verification): everything still appears once
    for (const auto& slot : slots_)
      if (slot) visit(slot.get());
  return order;
}

std::vector<Instruction*> Computation::ScheduleOrPostOrder() const {
  return has_schedule() ? schedule_ : PostOrder();
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
