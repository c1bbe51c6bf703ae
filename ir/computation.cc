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

namespace hlokit {

Computation::~Computation() = default;

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
  std::vector<Instruction*> all = std::move(parameters_);
  // One that only lost some lists all others: the whole computation need not be looked through.
  if (std::find(all.begin(), all.end(), nullptr) == all.end()) {
    all.clear();
    for (const auto& slot : slots_)
      if (slot && slot->IsParameter()) all.push_back(slot.get());
  }
  parameters_.clear();
  for (Instruction* parameter : all) {
    if (parameter == nullptr) continue;
    const int64_t number = parameter->parameter_number();
    if (number >= parameter_count()) parameters_.resize(number + 1, nullptr);
    parameters_[number] = parameter;
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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
