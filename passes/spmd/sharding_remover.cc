// Shardings and domains taken away, domains put between them.
#include <map>

#include "ops/collective/shards.h"
#include "passes/rewrite/expander.h"
#include "passes/spmd/sharding_passes.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool BoundsRegion(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return false;
  const std::string& target = i.attr<CustomCallAttrs>().target;
  return target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape";
}

bool OnlyMarksSharding(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall || i.operand_count() != 1) return false;
  const std::string& target = i.attr<CustomCallAttrs>().target;
  const bool mark = target == "Sharding" || target == "xla.sdy.Sharding" ||
                    target == "xla.sdy.FuncResultSharding" || BoundsRegion(i);
  return mark && SameIgnoringLayout(i.shape(), i.operand(0)->shape()) && !SaysHowToCut(i);
}

// The calls stay behind unread, for dce; other instructions keep what is written on them.
absl::StatusOr<bool> BypassMarks(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->PostOrder()) {
      if (!OnlyMarksSharding(*i) || (i->users().empty() && !i->IsRoot())) continue;
      i->ReplaceAllUsesWith(i->operand(0));
      changed = true;
    }
  return changed;
}

absl::StatusOr<Instruction*> RemoveDomain(Instruction* i, Rewriter&) {
  return i->opcode() == Opcode::kDomain ? i->operand(0) : nullptr;
}

void SetSide(const Instruction& i, Sharding& side) {
  if (i.sharding() != nullptr) {
    side = *i.sharding();
  } else {
    side.kind = Sharding::Kind::kTuple;  // as XLA writes an instruction without one
  }
}

bool SameSharding(const Sharding* a, const Sharding* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

absl::StatusOr<bool> Isolate(Computation& c) {
  bool changed = false;
  for (Instruction* user : c.PostOrder()) {
    if (user->opcode() == Opcode::kDomain) continue;
    std::map<Instruction*, Instruction*> made;
    for (int64_t k = 0; k < user->operand_count(); ++k) {
      Instruction* x = user->operand(k);
      const bool differs = !SameSharding(x->sharding(), user->sharding());
      if (!differs || x->opcode() == Opcode::kDomain || !x->shape().IsArray()) continue;
      Instruction*& domain = made[x];
      if (domain == nullptr) {
        domain = c.Add(Opcode::kDomain, x->shape(), {x});
        SetSide(*user, domain->mutable_attr<DomainAttrs>().domain.entry);
        SetSide(*x, domain->mutable_attr<DomainAttrs>().domain.exit);
      }
      user->SetOperand(k, domain);
      changed = true;
    }
  }
  return changed;
}

absl::Status CheckSide(const Instruction& domain, const Instruction& neighbour,
                       const Sharding& side) {
  Sharding wanted;
  SetSide(neighbour, wanted);
  if (wanted == side) return absl::OkStatus();
  return InvalidArgument("domain ", domain.name(), " says otherwise than ", neighbour.name(),
                         " how it is sharded");
}

absl::StatusOr<bool> VerifyDomains(Computation& c) {
  for (const Instruction* i : c.Instructions()) {
    // One that nobody reads separates nothing.
    if (i->opcode() != Opcode::kDomain || (i->users().empty() && !i->IsRoot())) continue;
    const Domain& domain = i->attr<DomainAttrs>().domain;
    if (i->operand(0)->opcode() != Opcode::kDomain)
      RETURN_IF_ERROR(CheckSide(*i, *i->operand(0), domain.exit));
    for (const Instruction* user : i->users())
      if (user->opcode() != Opcode::kDomain) RETURN_IF_ERROR(CheckSide(*i, *user, domain.entry));
  }
  return false;
}

}  // namespace

std::unique_ptr<Pass> CreateDomainVerifier() {
  return MakeComputationPass("domain_verifier", VerifyDomains);
}
std::unique_ptr<Pass> CreateShardingRemover() {
  return MakeModulePass("sharding-remover", BypassMarks);
}
std::unique_ptr<Pass> CreateDomainRemover() { return MakeExpander("domain_remover", RemoveDomain); }
std::unique_ptr<Pass> CreateDomainIsolator() {
  return MakeComputationPass("domain_isolator", Isolate);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
