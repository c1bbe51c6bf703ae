// Modules: names, computation order, deep copies.
#include "ir/module.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace hlokit {

Module::Module(std::string name) : name_(std::move(name)) {}
Module::~Module() = default;

Computation* Module::AddComputation(absl::string_view name) {
  computations_.push_back(std::make_unique<Computation>(this, UniqueComputationName(name)));
  Computation* added = computations_.back().get();
  added->id_ = next_computation_id_++;
  return added;
}

void Module::Remove(Computation* computation) {
  CHECK(computation != entry_);
  std::erase_if(computations_, [&](const auto& c) { return c.get() == computation; });
}

std::vector<Computation*> Module::Computations() const {
  std::vector<Computation*> out;
  out.reserve(computations_.size());
  for (const auto& c : computations_) out.push_back(c.get());
  return out;
}

std::vector<Computation*> Module::ComputationsPostOrder() const {
  struct Frame {
    Computation* computation;
    std::vector<Computation*> called;
    size_t next = 0;
  };
  std::vector<uint8_t> seen(next_computation_id_, 0);
  std::vector<Computation*> order;
  std::vector<Frame> stack;
  auto open = [&](Computation* c) {
    if (seen[c->id()]) return;
    seen[c->id()] = 1;
    Frame frame{c, {}};
    for (Instruction* i : c->PostOrder())
      frame.called.insert(frame.called.end(), i->called().begin(), i->called().end());
    stack.push_back(std::move(frame));
  };
  auto visit = [&](Computation* root) {
    open(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.called.size()) {
        open(top.called[top.next++]);
      } else {
        order.push_back(top.computation);
        stack.pop_back();
      }
    }
  };
  for (const auto& c : computations_)
    if (c.get() != entry_) visit(c.get());
  if (entry_ != nullptr) visit(entry_);
  return order;
}

std::string Module::UniqueName(absl::string_view name) {
  return Uniquify(name, names_, next_suffix_);
}

std::string Module::UniqueComputationName(absl::string_view name) {
  return Uniquify(name, computation_names_, next_computation_suffix_);
}

void Module::ReserveName(absl::string_view name) { names_.insert(std::string(name)); }

std::string Module::Uniquify(absl::string_view name, absl::flat_hash_set<std::string>& taken,
                             absl::flat_hash_map<std::string, int64_t>& next) {
  if (taken.insert(std::string(name)).second) return std::string(name);
  absl::string_view stem = name;
  int64_t number = 0;
  const size_t dot = name.rfind('.');
  if (dot != absl::string_view::npos && absl::SimpleAtoi(name.substr(dot + 1), &number))
    stem = name.substr(0, dot);
  int64_t& counter = next[std::string(stem)];
  counter = std::max(counter, number);
  while (true) {
    std::string candidate = absl::StrCat(stem, ".", ++counter);
    if (taken.insert(candidate).second) return candidate;
  }
}

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>(name_);
  copy->header_ = header_;
  copy->source_ = source_;
  absl::flat_hash_map<const Computation*, Computation*> computations;
  absl::flat_hash_map<const Instruction*, Instruction*> map;
  for (const auto& c : computations_) computations[c.get()] = copy->AddComputation(c->name());
  std::vector<Instruction*> operands;
  for (const auto& c : computations_) {
    Computation* to = computations[c.get()];
    to->execution_thread_ = c->execution_thread_;
    to->place_ = c->place_;
    // Source order is kept: operands are filled in afterwards.
    for (Instruction* i : c->Instructions()) map[i] = to->Add(i->CloneWith(i->shape(), {}));
    for (Instruction* i : c->Instructions()) {
      Instruction* made = map[i];
      for (Instruction* operand : i->operands()) made->AppendOperand(map[operand]);
      for (Instruction* before : i->control_predecessors()) made->AddControlPredecessor(map[before]);
      std::vector<Computation*> called;
      for (Computation* callee : i->called()) called.push_back(computations[callee]);
      made->set_called(std::move(called));
    }
    to->root_ = c->root_ ? map[c->root_] : nullptr;
    for (Instruction* i : c->schedule_) to->schedule_.push_back(map[i]);
  }
  copy->entry_ = entry_ ? computations[entry_] : nullptr;
  return copy;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
