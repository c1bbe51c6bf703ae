// Modules: names, computation order, deep copies.
#include "ir/module.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace hlokit {

Module::Module(std::string name) : name_(std::move(name)) {}
Module::~Module() = default;

Computation* Module::AddComputation(absl::string_view name) {
  computations_.push_back(std::make_unique<Computation>(this, UniqueComputationName(name)));
  Computation* added = computations_.back().get();
  added->id_ = next_computation_id_++;
  return added;
}

Computation* Module::Adopt(std::unique_ptr<Computation> computation) {
  Computation* added = computation.get();
  added->id_ = next_computation_id_++;
  computation_names_.MakeUnique(added->name_);
  for (const auto& slot : added->slots_)
    if (slot) names_.MakeUnique(slot->name_);
  computations_.push_back(std::move(computation));
  return added;
}

namespace {

// Where the first computation stands whose id is not below `id`.
template <typename Computations>
auto FirstFrom(Computations& computations, int64_t id) {
  return std::lower_bound(computations.begin(), computations.end(), id,
                          [](const auto& c, int64_t bound) { return c->id() < bound; });
}

}  // namespace

Computation* Module::FindComputation(int64_t id) const {
  const auto found = FirstFrom(computations_, id);
  return found != computations_.end() && (*found)->id() == id ? found->get() : nullptr;
}

void Module::Remove(Computation* computation) {
  CHECK(computation != entry_ && FindComputation(computation->id()) == computation);
  computations_.erase(FirstFrom(computations_, computation->id()));
}

std::vector<Computation*> Module::Computations() const {
  std::vector<Computation*> out;
  out.reserve(computations_.size());
  for (const auto& c : computations_) out.push_back(c.get());
  return out;
}

// Callees before callers, by an explicit stack; the entry comes last.
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
    for (Instruction* i : c->Instructions()) map[i] = to->Add(i->CloneWith(i->shared_shape(), {}));
    for (Instruction* i : c->Instructions()) {
      Instruction* made = map[i];
      for (Instruction* operand : i->operands()) made->AppendOperand(map[operand]);
      for (Instruction* before : i->control_predecessors())
        made->AddControlPredecessor(map[before]);
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
