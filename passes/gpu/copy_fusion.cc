// copy_fusion: copies of what a fusion gives become further results of the fusion.
//   f = fusion(x), a = copy(f), b = copy(f)
//     ->  f = (..., ..., ...) fusion(x): tuple(root, root, root); a is part 1, b is part 2
// The result is in registers when it is written the second time, where a copy reads it from memory.
// Takes copies that keep the layout and have no control edges, through one get-tuple-element and
// one bitcast that nothing else reads, of fusions in the entry whose operands are used elementwise;
// other readers go on with the parts that they know. Leaves custom fusions, those that reduce or
// scatter, and those that update in place. Exact. Cost: linear.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr absl::string_view kCopyFusion = "copy_fusion";

// True if what parameters reach is elementwise, so that any number of results costs nothing more.
bool IsElementwiseFromParameters(const Computation& body) {
  std::vector<bool> reached(body.module()->id_bound());
  for (const Instruction* i : body.PostOrder()) {
    bool reads = i->IsParameter();
    for (const Instruction* operand : i->operands()) reads = reads || reached[operand->id()];
    if (!reads) continue;
    reached[i->id()] = true;
    if (!i->IsParameter() && i->opcode() != Opcode::kTuple &&
        i->opcode() != Opcode::kGetTupleElement && !HasTrait(i->opcode(), kElementwise))
      return false;
  }
  return true;
}

bool IsPlainResult(const Instruction* i) {
  return i->opcode() != Opcode::kReduce && i->opcode() != Opcode::kScatter &&
         i->opcode() != Opcode::kDynamicUpdateSlice;
}

// Whether copies of the fusion may become its results.
bool TakesCopies(const Instruction& fusion) {
  if (fusion.opcode() != Opcode::kFusion ||
      fusion.attr<FusionAttrs>().kind == FusionKind::kCustom ||
      !fusion.control_successors().empty())
    return false;
  const Instruction* root = fusion.to_apply()->root();
  const bool several = root->opcode() == Opcode::kTuple;
  if (!several && !root->shape().IsArray()) return false;
  bool slices = several;
  for (const Instruction* result : several ? root->operands() : absl::Span<Instruction* const>()) {
    if (!IsPlainResult(result) || !result->shape().IsArray()) return false;
    slices = slices && result->opcode() == Opcode::kSlice;
  }
  return !slices && IsPlainResult(root) && IsElementwiseFromParameters(*fusion.to_apply());
}

// The copy at the end of a get-tuple-element and a bitcast that nothing else reads, or null.
Instruction* CopyBehind(Instruction* user) {
  const auto next = [](const Instruction* i) {
    return i->users().size() == 1 && !i->IsRoot() ? i->users()[0] : nullptr;
  };
  for (const Opcode opcode : {Opcode::kGetTupleElement, Opcode::kBitcast})
    if (user != nullptr && user->opcode() == opcode) user = next(user);
  return user != nullptr && user->opcode() == Opcode::kCopy && user->shape().IsArray() &&
                 user->shape() == user->operand(0)->shape() && !HasControlEdges(*user)
             ? user
             : nullptr;
}

// What `copy` copies, computed inside the fusion.
Instruction* InsideOf(const Instruction* copy, const Instruction& fusion) {
  Computation& body = *fusion.to_apply();
  std::vector<const Instruction*> chain;  // from the copy's operand up to the fusion
  for (const Instruction* i = copy->operand(0); i != &fusion; i = i->operand(0)) chain.push_back(i);
  Instruction* at = body.root();
  for (auto i = chain.rbegin(); i != chain.rend(); ++i)
    at = (*i)->opcode() == Opcode::kGetTupleElement
             ? at->operand((*i)->tuple_index())
             : body.Add((*i)->CloneWith((*i)->shape(), {at}), (*i)->name());
  return at;
}

void FuseCopies(Instruction* fusion, absl::Span<Instruction* const> copies) {
  Computation &c = *fusion->parent(), &body = *fusion->to_apply();
  Instruction* root = body.root();
  const bool several = root->opcode() == Opcode::kTuple;
  std::vector<Instruction*> results = {root};
  if (several) results.assign(root->operands().begin(), root->operands().end());
  const auto known = static_cast<int64_t>(results.size());
  for (const Instruction* copy : copies) results.push_back(InsideOf(copy, *fusion));
  Rewriter inside(body);
  body.set_root(HloWriter(inside).Tuple(results));
  body.RemoveIfDead(root);
  const Shape before = fusion->shape();
  Shape whole = body.root()->shape();
  for (int64_t k = 0; k < known; ++k)  // which may lie otherwise than inside
    whole.elements[k] = several ? before.elements[k] : before;
  fusion->set_shape(std::move(whole));
  Rewriter r(c);
  HloWriter w(r);
  const std::vector<Instruction*> readers(fusion->users().begin(), fusion->users().end());
  Instruction* old = nullptr;  // what those see who read the fusion as it was
  const auto old_value = [&] {
    if (old != nullptr) return old;
    if (!several) return old = w.Part(fusion, 0);
    std::vector<Instruction*> parts;
    for (int64_t k = 0; k < known; ++k) parts.push_back(w.Part(fusion, k));
    old = w.Tuple(parts);
    old->set_shape(before);
    return old;
  };
  const bool is_root = fusion->IsRoot();
  for (Instruction* reader : readers)
    if (!several || reader->opcode() != Opcode::kGetTupleElement)
      fusion->ReplaceUseIn(reader, old_value());
  if (is_root) c.set_root(old_value());
  for (size_t k = 0; k < copies.size(); ++k)
    copies[k]->ReplaceAllUsesWith(w.Part(fusion, known + static_cast<int64_t>(k)));
}

absl::StatusOr<bool> RunCopyFusion(Module& module, RewriteControl& control) {
  bool changed = false;
  for (Instruction* fusion : module.entry()->PostOrder()) {
    if (!TakesCopies(*fusion)) continue;
    std::vector<Instruction*> copies;
    for (Instruction* user : fusion->users())
      if (Instruction* copy = CopyBehind(user)) copies.push_back(copy);
    if (copies.empty() || !control.Permit(kCopyFusion, *fusion, *copies[0])) continue;
    std::sort(copies.begin(), copies.end(),
              [](const Instruction* a, const Instruction* b) { return a->id() < b->id(); });
    FuseCopies(fusion, copies);
    changed = true;
  }
  if (changed) RemoveDead(*module.entry());
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateCopyFusion() { return MakeModulePass(kCopyFusion, RunCopyFusion); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
