// Calls that can be found again once they were inlined.
//
// Marks around calls, and calls made of what lies between marks.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "ir/frontend_attributes.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kBefore = "__xla_internal_call_marker_before",
                            kAfter = "__xla_internal_call_marker_after",
                            kCallee = "xla_call_marked_computation";

bool IsMark(const Instruction* i, absl::string_view target) {
  return i->opcode() == Opcode::kCustomCall && i->attr<CustomCallAttrs>().target == target;
}

Instruction* Mark(absl::string_view target, absl::string_view name, const Shape& shape,
                  absl::Span<Instruction* const> operands) {
  CustomCallAttrs attrs;
  attrs.target = std::string(target);
  Instruction* mark =
      operands[0]->parent()->Add(Opcode::kCustomCall, shape, operands, std::move(attrs));
  mark->mutable_extras().frontend_attributes.emplace_back(kCallee, std::string(name));
  return mark;
}

// The computation that the marked call called; empty where the mark does not say.
absl::string_view CalleeOf(const Instruction* mark) {
  for (const auto& [key, value] : mark->extras().frontend_attributes)
    if (key == kCallee) return value;
  return "";
}

bool IsPlainCall(const Instruction* i, absl::string_view callee) {
  return i->opcode() == Opcode::kCall && i->operand_count() > 0 && i->shape().IsArray() &&
         (callee.empty() || i->to_apply()->name() == callee) && !HasControlEdges(*i) &&
         std::all_of(i->operands().begin(), i->operands().end(),
                     [](const Instruction* x) { return x->shape().IsArray(); });
}

bool IsMarked(const Instruction* call) {
  return std::any_of(call->users().begin(), call->users().end(),
                     [](const Instruction* user) { return IsMark(user, kAfter); });
}

void MarkCall(Instruction* call) {
  std::vector<Shape> shapes;
  for (const Instruction* operand : call->operands()) shapes.push_back(operand->shape());
  const std::vector<Instruction*> operands(call->operands().begin(), call->operands().end());
  const std::string callee = call->to_apply()->name();
  Instruction* before = Mark(kBefore, callee, Shape::Tuple(std::move(shapes)), operands);
  before->set_metadata(call->shared_metadata());
  for (int64_t k = 0; k < call->operand_count(); ++k)
    call->SetOperand(k, call->parent()->Add(Opcode::kGetTupleElement, operands[k]->shape(),
                                            {before}, GetTupleElementAttrs{k}));
  const std::vector<Instruction*> users(call->users().begin(), call->users().end());
  const bool root = call->IsRoot();
  Instruction* after = Mark(kAfter, callee, call->shape(), {call});
  after->mutable_extras().frontend_attributes.clear();
  after->CopyExtrasFrom(*call);
  after->mutable_extras().frontend_attributes.emplace_back(kCallee, callee);
  for (Instruction* user : users) call->ReplaceUseIn(user, after);
  if (root) call->parent()->set_root(after);
}

class CallMarker final : public ComputationPass {
 public:
  explicit CallMarker(std::string calls) : calls_(std::move(calls)) {}
  absl::string_view name() const override { return "call-marker"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    for (Instruction* i : c.PostOrder()) {
      if (!IsPlainCall(i, calls_) || IsMarked(i) || !control().Permit(name(), *i, *i)) continue;
      MarkCall(i);
      changed = true;
    }
    return changed;
  }

 private:
  std::string calls_;
};

// A constant, or one spread over an array.
bool IsOfConstants(const Instruction* i) {
  while (i->opcode() == Opcode::kBroadcast || i->opcode() == Opcode::kReshape) i = i->operand(0);
  return i->IsConstant() || i->opcode() == Opcode::kIota;
}

// What lies between two marks.
struct MarkedBlock {
  Instruction *before, *after;
  std::vector<Instruction*> inside;  // operands first; each needs `before`, or constants alone
};

bool IsPartOf(const Instruction* i, const Instruction* tuple) {
  return i->opcode() == Opcode::kGetTupleElement && i->operand(0) == tuple;
}

std::optional<MarkedBlock> BlockOf(Instruction* after, Instruction* before,
                                   const std::vector<Instruction*>& order) {
  MarkedBlock block{before, after, {}};
  absl::flat_hash_map<const Instruction*, bool> needs_before;
  for (Instruction* i : order) {
    bool needs = i == before;
    for (const Instruction* x : i->operands()) needs |= needs_before[x];
    for (const Instruction* x : i->control_predecessors()) needs |= needs_before[x];
    needs_before[i] = needs;
  }
  if (!needs_before[after]) return std::nullopt;
  std::vector<Instruction*> work = {after};
  absl::flat_hash_map<const Instruction*, bool> wanted;
  while (!work.empty()) {
    Instruction* i = work.back();
    work.pop_back();
    for (Instruction* x : i->operands()) {
      if (x == before) return std::nullopt;  // the tuple itself
      if (IsPartOf(x, before) || wanted[x] || (!needs_before[x] && !IsOfConstants(x))) continue;
      wanted[x] = true;
      if (x->HasSideEffect() || HasControlEdges(*x)) return std::nullopt;
      work.push_back(x);
    }
  }
  for (Instruction* i : order)
    if (wanted[i]) block.inside.push_back(i);
  return block;
}

// A computation's name, if `text` can be one.
absl::string_view NameFrom(absl::string_view text) {
  const bool fits = !text.empty() && (absl::ascii_isalpha(text[0]) || text[0] == '_') &&
                    std::all_of(text.begin(), text.end(), [](char c) {
                      return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
                    });
  return fits ? text : "outlined_computation";
}

void Outline(const MarkedBlock& block) {
  Computation* body = block.after->module()->AddComputation(NameFrom(CalleeOf(block.after)));
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  std::vector<Instruction*> given;
  const auto copy_of = [&](Instruction* x) {
    Instruction*& copy = copies[x];
    if (copy != nullptr) return copy;
    const bool part = IsPartOf(x, block.before);
    copy = body->AddParameter(static_cast<int64_t>(given.size()), x->shape());
    given.push_back(part ? block.before->operand(x->tuple_index()) : x);
    return copy;
  };
  for (const Instruction* i : block.inside) {
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) operands.push_back(copy_of(x));
    copies[i] = body->Add(i->CloneWith(i->shape(), operands), i->name());
  }
  body->set_root(copy_of(block.after->operand(0)));
  Computation& c = *block.after->parent();
  Instruction* call = c.Add(Opcode::kCall, block.after->shape(), given);
  call->set_called({body});
  call->CopyExtrasFrom(*block.after);
  std::erase_if(call->mutable_extras().frontend_attributes,
                [](const auto& attribute) { return attribute.first == kCallee; });
  block.after->ReplaceAllUsesWith(call);
  c.Remove(block.after);
}

// The mark before the call of whose result `after` is the mark: the last that it needs, of the same
// callee. Null where there is none.
Instruction* MarkBefore(Instruction* after, const std::vector<Instruction*>& order) {
  absl::flat_hash_map<const Instruction*, bool> needed;
  needed[after] = true;
  for (size_t k = order.size(); k-- > 0;) {
    Instruction* i = order[k];
    if (!needed[i]) continue;
    if (IsMark(i, kBefore) && CalleeOf(i) == CalleeOf(after)) return i;
    for (const Instruction* x : i->operands()) needed[x] = true;
  }
  return nullptr;
}

absl::StatusOr<bool> OutlineAll(Computation& c, RewriteControl& control) {
  std::vector<Instruction*> after;  // those of inner calls first
  for (Instruction* i : c.PostOrder())
    if (IsMark(i, kAfter) && i->operand_count() == 1 && i->shape().IsArray()) after.push_back(i);
  bool changed = false;
  absl::flat_hash_set<const Instruction*> paired;
  for (Instruction* i : after) {
    const std::vector<Instruction*> order = c.PostOrder();
    Instruction* const before = MarkBefore(i, order);
    if (before == nullptr) continue;
    paired.insert(before);
    const auto block = BlockOf(i, before, order);
    if (!block || !control.Permit("call-outliner", *i, *i)) continue;
    Outline(*block);
    if (before->users().empty()) before->mutable_attr<CustomCallAttrs>().has_side_effect = false;
    changed = true;
  }
  if (changed) RemoveDead(c);
  for (const Instruction* i : c.Instructions())
    if (IsMark(i, kBefore) && !paired.contains(i))
      return WithPlace(
          InvalidArgument("call-outliner: no mark after the call follows %", i->name()),
          i->place());
  return changed;
}

}  // namespace

// call-marker: the operands and the result of calls (option `calls`: only those of this
// computation) go through custom calls __xla_internal_call_marker_before and _after, which
// carry the callee's name and give their operands as they are. Calls without operands, or with
// results or operands that are no arrays, stay.
std::unique_ptr<Pass> CreateCallMarker(PassArguments& arguments) {
  return std::make_unique<CallMarker>(
      arguments.String("calls", "", "only calls of this computation"));
}

// call-outliner: what lies between an _after mark and the last _before mark of its callee that it
// needs becomes a computation, and a call of it; both marks go. What it needs besides are
// parameters too, but for constants and what spreads them. Left alone: marks with instructions of
// side effects between them. Exact. Errors: InvalidArgument for a _before mark that no _after mark
// needs.
std::unique_ptr<Pass> CreateCallOutliner() {
  return MakeComputationPass("call-outliner", OutlineAll);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
