// constant_folding: evaluates instructions whose operands are all constants.
// Matches elementwise operations, data movement, reductions and dots whose operands are all
// constants, or broadcasts of constants and iotas besides them, with results and work of at most
// kMaxFoldedElements; broadcasts and iotas, which cost nothing, stay. A parameter of a called
// function that gets equal constants at every call is that constant inside. Values are the
// reference executor's. Cost: linear, and the work folded.
//   call(5, x), to_apply=f, and no other call of f  ->  parameter(0) of f reads as 5
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "interpreter/interpreter.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxFoldedElements = 1 << 16;

bool Folds(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBroadcast:
    case Opcode::kBitcast:
    case Opcode::kDynamicReshape:
    case Opcode::kStochasticConvert:
      return false;
    case Opcode::kReduce:
    case Opcode::kDot:
    case Opcode::kScatter:
      return true;
    default:
      return HasTrait(opcode, kElementwise) || HasTrait(opcode, kMovesData);
  }
}

// The constant that the operand is, or that it broadcasts; an iota is its own.
const Instruction* ConstantOf(const Instruction* x) {
  if (x->opcode() == Opcode::kIota) return x;
  const Instruction* constant = x->opcode() == Opcode::kBroadcast ? x->operand(0) : x;
  return constant->IsConstant() && constant->literal() != nullptr ? constant : nullptr;
}

// Bits of one element are those of several, or the other way round, below a byte: what the order of
// these is in memory is the target's to say.
bool SplitsBytes(const Instruction& i) {
  if (i.opcode() != Opcode::kBitcastConvert) return false;
  const ElementType from = i.operand(0)->shape().type, to = i.shape().type;
  return BitWidth(from) != BitWidth(to) && (IsSubByte(from) || IsSubByte(to));
}

bool MayFold(const Instruction* i) {
  if (!Folds(i->opcode()) || !i->shape().IsArray() || i->shape().HasDynamicDims() ||
      SplitsBytes(*i))
    return false;
  if (HasControlEdges(*i)) return false;
  if (i->shape().ElementCount() > kMaxFoldedElements || i->operand_count() == 0) return false;
  double work = static_cast<double>(i->shape().ElementCount());
  bool plain = false;  // broadcasts alone are for other rules
  for (const Instruction* x : i->operands()) {
    if (ConstantOf(x) == nullptr || !x->shape().IsArray()) return false;
    if (x->shape().ElementCount() > kMaxFoldedElements) return false;
    plain |= x->IsConstant();
  }
  if (!plain) return false;
  if (i->opcode() == Opcode::kDot)
    for (int64_t d : i->attr<DotAttrs>().lhs_contracting_dims)
      work *= static_cast<double>(i->operand(0)->shape().dims[d]);
  return work <= static_cast<double>(kMaxFoldedElements);
}

// What `i` gives, whose operands MayFold took.
absl::StatusOr<Literal> Fold(const Instruction& i) {
  std::vector<std::unique_ptr<Literal>> broadcasts;
  std::vector<const Literal*> operands;
  for (const Instruction* x : i.operands()) {
    const bool is_iota = x->opcode() == Opcode::kIota;
    operands.push_back(is_iota ? nullptr : ConstantOf(x)->literal());
    if (x->IsConstant()) continue;
    std::vector<const Literal*> source;
    if (!is_iota) source.push_back(operands.back());
    ASSIGN_OR_RETURN(Literal whole, EvaluateInstruction(*x, source));
    broadcasts.push_back(std::make_unique<Literal>(std::move(whole)));
    operands.back() = broadcasts.back().get();
  }
  return EvaluateInstruction(i, operands);
}

absl::StatusOr<bool> FoldAll(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (!MayFold(i) || (i->users().empty() && !i->IsRoot())) continue;
    absl::StatusOr<Literal> value = Fold(*i);
    if (!value.ok()) continue;  // what fails shall fail when it runs
    value->set_shape(i->shape());
    Instruction* constant = computation.AddConstant(*std::move(value), i->name());
    constant->CopyExtrasFrom(*i);
    i->ReplaceAllUsesWith(constant);
    computation.RemoveIfDead(i);
    changed = true;
  }
  return changed;
}

// The calls of each computation that only calls run; absent for all others.
using CallSites = absl::flat_hash_map<Computation*, std::vector<Instruction*>>;

CallSites SitesOf(const Module& module) {
  CallSites sites;
  absl::flat_hash_set<Computation*> otherwise = {module.entry()};
  for (const Computation* c : module.Computations())
    c->ForEach([&](Instruction* i) {
      for (Computation* called : i->called()) {
        if (i->opcode() == Opcode::kCall)
          sites[called].push_back(i);
        else
          otherwise.insert(called);
      }
    });
  for (Computation* c : otherwise) sites.erase(c);
  return sites;
}

// The constant that every call passes as parameter `k`; null if there is none.
const Instruction* PassedEverywhere(const std::vector<Instruction*>& calls, int64_t k) {
  const Instruction* const first = calls[0]->operand(k);
  for (const Instruction* call : calls) {
    const Instruction* x = call->operand(k);
    if (!x->IsConstant() || x->literal() == nullptr || !x->shape().IsArray()) return nullptr;
    if (x != first && (x->shape() != first->shape() || *x->literal() != *first->literal()))
      return nullptr;
  }
  return first;
}

// Constants that all callers pass, inside the functions; callers first.
bool PassConstants(Module& module) {
  const CallSites sites = SitesOf(module);
  if (sites.empty()) return false;
  bool changed = false;
  std::vector<Computation*> order = module.ComputationsPostOrder();
  std::reverse(order.begin(), order.end());
  for (Computation* c : order) {
    const auto found = sites.find(c);
    if (found == sites.end()) continue;
    for (Instruction* parameter : c->parameters()) {
      if (parameter->users().empty()) continue;
      const Instruction* value = PassedEverywhere(found->second, parameter->parameter_number());
      if (value == nullptr || value->shape() != parameter->shape()) continue;
      // A clone: the layout of the literal may still be the one that it was written with.
      parameter->ReplaceAllUsesWith(
          c->Add(value->CloneWith(value->shared_shape(), {}), value->name()));
      changed = true;
    }
  }
  return changed;
}

class ConstantFolding final : public ComputationPass {
 public:
  absl::string_view name() const override { return "constant_folding"; }
  bool into_applied() const override { return true; }
  absl::StatusOr<bool> Run(Module& module) override {
    const bool passed = PassConstants(module);
    ASSIGN_OR_RETURN(const bool folded, ComputationPass::Run(module));
    return passed || folded;
  }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override { return FoldAll(c); }
};

}  // namespace

std::unique_ptr<Pass> CreateConstantFolding() { return std::make_unique<ConstantFolding>(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
