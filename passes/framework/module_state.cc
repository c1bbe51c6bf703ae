// Two modules walked side by side.
#include "passes/framework/module_state.h"

#include <algorithm>
#include <tuple>

namespace hlokit {
namespace {

bool SameHeader(const ModuleHeader& a, const ModuleHeader& b) {
  const auto fields = [](const ModuleHeader& h) {
    return std::tie(h.is_scheduled, h.entry_layout, h.aliases, h.donors, h.replica_count,
                    h.num_partitions, h.propagate_sharding_to_parameters,
                    h.propagate_sharding_to_output, h.alias_passthrough_params,
                    h.frontend_attributes, h.others, h.stack_frames);
  };
  const auto same_row = [](const OriginRecovery& x, const OriginRecovery& y) {
    return x.lost == y.lost && x.from == y.from && x.module == y.module;
  };
  return fields(a) == fields(b) &&
         std::equal(a.origin_recovery.begin(), a.origin_recovery.end(), b.origin_recovery.begin(),
                    b.origin_recovery.end(), same_row);
}

bool SameExtras(const Instruction& a, const Instruction& b) {
  const auto fields = [](const InstructionExtras& e) {
    return std::tie(e.backend_config, e.backend_config_is_raw, e.frontend_attributes, e.statistics,
                    e.origin, e.unknown);
  };
  if (!a.HasExtras() && !b.HasExtras()) return true;
  const Sharding *const x = a.sharding(), *const y = b.sharding();
  return (x == y || (x != nullptr && y != nullptr && *x == *y)) &&
         fields(a.extras()) == fields(b.extras());
}

template <typename T>
bool SameValue(const Shared<T>& a, const Shared<T>& b) {
  return a.IsSame(b) || *a == *b;
}

// All but what leads to other instructions and computations.
bool SameAlone(const Instruction& a, const Instruction& b) {
  return a.opcode() == b.opcode() && a.name() == b.name() &&
         SameValue(a.shared_shape(), b.shared_shape()) &&
         (a.attributes() == nullptr || a.attributes()->Equals(*b.attributes())) &&
         SameValue(a.shared_metadata(), b.shared_metadata()) && SameExtras(a, b);
}

// Which instruction of one module stands where in the other.
class SideBySide {
 public:
  SideBySide(const Module& a, const Module& b)
      : computations_(a.computation_id_bound()), instructions_(a.id_bound()) {
    same_ = a.name() == b.name() && SameHeader(a.header(), b.header());
    const std::vector<Computation*> mine = a.Computations(), its = b.Computations();
    same_ = same_ && mine.size() == its.size();
    for (size_t k = 0; same_ && k < mine.size(); ++k) {
      computations_[mine[k]->id()] = its[k];
      same_ = Pair(*mine[k], *its[k]);
    }
    same_ = same_ && Matches(a.entry(), b.entry());
    for (size_t k = 0; same_ && k < mine.size(); ++k) same_ = SameEdges(*mine[k], *its[k]);
  }

  bool same() const { return same_; }

 private:
  bool Pair(const Computation& a, const Computation& b) {
    if (a.name() != b.name() || a.instruction_count() != b.instruction_count() ||
        a.execution_thread() != b.execution_thread())
      return false;
    const std::vector<Instruction*> its = b.Instructions();
    size_t next = 0;
    bool same = true;
    a.ForEach([&](const Instruction* i) {
      const Instruction* other = its[next++];
      instructions_[i->id()] = other;
      same = same && SameAlone(*i, *other);
    });
    return same;
  }

  bool Matches(const Computation* a, const Computation* b) const {
    return a == nullptr ? b == nullptr : computations_[a->id()] == b;
  }
  bool Matches(const Instruction* a, const Instruction* b) const {
    return a == nullptr ? b == nullptr : instructions_[a->id()] == b;
  }
  template <typename T>
  bool Match(absl::Span<T* const> a, absl::Span<T* const> b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [this](const T* x, const T* y) { return Matches(x, y); });
  }

  bool SameEdges(const Computation& a, const Computation& b) const {
    if (!Matches(a.root(), b.root()) || !Match(a.parameters(), b.parameters()) ||
        !Match(a.schedule(), b.schedule()))
      return false;
    bool same = true;
    a.ForEach([&](const Instruction* i) {
      const Instruction* other = instructions_[i->id()];
      same = same && Match(i->operands(), other->operands()) &&
             Match(i->called(), other->called()) &&
             Match(i->control_predecessors(), other->control_predecessors());
    });
    return same;
  }

  std::vector<const Computation*> computations_;  // of b, by the ids of a's
  std::vector<const Instruction*> instructions_;
  bool same_ = false;
};

int64_t CountOfInstructions(const Module& module) {
  int64_t count = 0;
  for (const Computation* c : module.Computations()) count += c->instruction_count();
  return count;
}

}  // namespace

bool IsSameModule(const Module& a, const Module& b) { return SideBySide(a, b).same(); }

bool ModuleState::Differs(const Module& module, bool in_memory, std::optional<Fingerprint>& now) {
  if (!in_memory && IsSameModule(module, copy_)) return false;
  // The text has a line for each.
  if (CountOfInstructions(module) != CountOfInstructions(copy_)) return true;
  if (!fingerprint_) fingerprint_.emplace(copy_);
  now.emplace(module);
  return in_memory ? *now != *fingerprint_ : !now->SameText(*fingerprint_);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
