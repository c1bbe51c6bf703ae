// Calls that can be found again once they were inlined.
//
// Marks around calls, and calls made of what lies between marks.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr absl::string_view kBefore = "hlokit.call_before", kAfter = "hlokit.call_after";

bool IsMark(const Instruction* i, absl::string_view target) {
  return i->opcode() == Opcode::kCustomCall && i->attr<CustomCallAttrs>().target == target;
}

Instruction* Mark(absl::string_view target, absl::string_view name, const Shape& shape,
                  absl::Span<Instruction* const> operands) {
  CustomCallAttrs attrs;
  attrs.target = std::string(target);
  Instruction* mark =
      operands[0]->parent()->Add(Opcode::kCustomCall, shape, operands, std::move(attrs));
  mark->mutable_extras().backend_config = std::string(name);
  return mark;
}

bool IsPlainCall(const Instruction* i, absl::string_view callee) {
  return i->opcode() == Opcode::kCall && i->operand_count() > 0 && i->shape().IsArray() &&
         (callee.empty() || i->to_apply()->name() == callee) && i->control_predecessors().empty() &&
         i->control_successors().empty() &&
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
  Instruction* before = Mark(kBefore, call->name(), Shape::Tuple(std::move(shapes)), operands);
  for (int64_t k = 0; k < call->operand_count(); ++k)
    call->SetOperand(k, call->parent()->Add(Opcode::kGetTupleElement, operands[k]->shape(),
                                            {before}, GetTupleElementAttrs{k}));
  const std::vector<Instruction*> users(call->users().begin(), call->users().end());
  const bool root = call->IsRoot();
  Instruction* after = Mark(kAfter, call->name(), call->shape(), {call});
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
      if (x->HasSideEffect() || !x->control_predecessors().empty() ||
          !x->control_successors().empty())
        return std::nullopt;
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
  Computation* body =
      block.after->module()->AddComputation(NameFrom(block.after->backend_config()));
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
  call->mutable_extras().backend_config = "";
  block.after->ReplaceAllUsesWith(call);
  c.Remove(block.after);
}

absl::StatusOr<bool> OutlineAll(Computation& c, RewriteControl& control) {
  absl::flat_hash_map<std::string, Instruction*> before;
  std::vector<Instruction*> after;
  for (Instruction* i : c.PostOrder()) {
    if (IsMark(i, kBefore)) before[std::string(i->backend_config())] = i;
    if (IsMark(i, kAfter) && i->operand_count() == 1 && i->shape().IsArray()) after.push_back(i);
  }
  bool changed = false;
  for (Instruction* i : after) {
    const auto mark = before.find(std::string(i->backend_config()));
    if (mark == before.end()) continue;
    const auto block = BlockOf(i, mark->second, c.PostOrder());
    if (!block || !control.Permit("call-outliner", *i, *i)) continue;
    Outline(*block);
    changed = true;
  }
  if (changed) RemoveDead(c);
  return changed;
}

}  // namespace

// call-marker: the operands and the result of calls (option `calls`: only those of this
// computation) go through custom calls hlokit.call_before and hlokit.call_after, which carry the
// call's name and give their operands as they are. Calls without operands, or with results or
// operands that are no arrays, stay.
std::unique_ptr<Pass> CreateCallMarker(PassArguments& arguments) {
  return std::make_unique<CallMarker>(
      arguments.String("calls", "", "only calls of this computation"));
}

// call-outliner: what lies between a hlokit.call_after and the hlokit.call_before of its name
// becomes a computation, and a call of it; both marks go. What it needs besides are parameters
// too, but for constants and what spreads them. Left alone: marks with instructions of side effects
// between them. Exact.
std::unique_ptr<Pass> CreateCallOutliner() {
  return MakeComputationPass("call-outliner", OutlineAll);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
