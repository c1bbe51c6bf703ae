// Regions between domain instructions, found by merging what operands join (a forest of sets); the
// first domain instruction that a region touches names its sharding.
#include "passes/collectives/domains.h"

namespace hlokit {
namespace {

// Sets of instruction ids.
class Sets {
 public:
  int64_t Find(int64_t id) {
    parent_.try_emplace(id, id);
    while (parent_[id] != id) {  // halves the path as it goes
      int64_t& up = parent_[id];
      up = parent_[up];
      id = up;
    }
    return id;
  }
  void Join(int64_t a, int64_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::map<int64_t, int64_t> parent_;
};

}  // namespace

Domains::Domains(const Computation& computation) {
  const std::vector<Instruction*> all = computation.PostOrder();
  bool any = false;
  for (const Instruction* i : all) any |= i->opcode() == Opcode::kDomain;
  if (!any) return;
  Sets sets;
  for (const Instruction* i : all)
    for (const Instruction* x : i->operands())
      if (i->opcode() != Opcode::kDomain && x->opcode() != Opcode::kDomain)
        sets.Join(x->id(), i->id());
  std::vector<Sharding> shardings;
  std::map<int64_t, int64_t> sharding_of;  // by set
  const auto note = [&](const Instruction& member, const Sharding& sharding) {
    size_t k = 0;
    while (k < shardings.size() && !(shardings[k] == sharding)) ++k;
    if (k == shardings.size()) shardings.push_back(sharding);
    sharding_of.try_emplace(sets.Find(member.id()), k);
  };
  for (const Instruction* i : all) {
    if (i->opcode() != Opcode::kDomain) continue;
    const Domain& domain = i->attr<DomainAttrs>().domain;
    if (i->operand(0)->opcode() != Opcode::kDomain) note(*i->operand(0), domain.exit);
    for (const Instruction* user : i->users())
      if (user->opcode() != Opcode::kDomain) note(*user, domain.entry);
  }
  for (const Instruction* i : all) {
    const auto found = sharding_of.find(sets.Find(i->id()));
    domain_[i->id()] = found == sharding_of.end() ? -1 : found->second;
  }
}

int64_t Domains::Of(const Instruction& i) const {
  const auto found = domain_.find(i.id());
  return found == domain_.end() ? -1 : found->second;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
