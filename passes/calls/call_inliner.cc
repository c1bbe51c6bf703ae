// call-inliner: inlines called computations into their callers.
// Matches call instructions without control edges, callees before callers, so that calls of calls
// vanish too; where any was inlined, what nothing needs any more is removed. The op_name of a call
// becomes the start of the op_names of what it brings, and of the bodies of its loops and branches:
//   call, op_name="x", of while, op_name="while"  ->  while, op_name="x/while"
// Stay: calls marked inlineable="false" or "xla_late", calls with a backend_config, and bodies of
// manual computations (shmap_body, xla.sdy.manual_computation_body: the sharding custom calls
// around them speak of the body as a whole), unless the option manual-bodies is given. Cost: the
// size of what is copied; where that comes to more than kMaxInlineGrowth times the module (and more
// than kFreelyInlined), calls stay.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analysis/module_size.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kFreelyInlined = 200'000;  // instructions
constexpr int64_t kMaxInlineGrowth = 16;

// Longer op_names are left as they are.
constexpr size_t kMaxOpName = 1000;  // bytes

// Whether the computation is a manual region of shard_map.
bool IsManualBody(const Computation& c) {
  return absl::StrContains(c.name(), "shmap_body") ||
         absl::StrContains(c.name(), "xla.sdy.manual_computation_body");
}

bool IsInlineable(const Instruction* i, bool manual_bodies) {
  if (i->opcode() != Opcode::kCall || !i->backend_config().empty()) return false;
  if (HasControlEdges(*i)) return false;
  for (const auto& [key, value] : i->extras().frontend_attributes)
    if (key == "inlineable" && (value == "false" || value == "xla_late")) return false;
  if (!manual_bodies && IsManualBody(*i->to_apply())) return false;
  return i->to_apply()->root()->shape() == i->shape();
}

using CallCounts = absl::flat_hash_map<const Computation*, int64_t>;

// How many instructions of the module call each computation.
CallCounts CountCalls(const Module& module) {
  CallCounts counts;
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) {
      for (const Computation* called : i->called()) ++counts[called];
    });
  return counts;
}

void PrefixOpName(Instruction* i, const std::string& prefix) {
  const absl::string_view name = i->metadata().op_name;
  if (absl::StartsWith(name, prefix) || prefix.size() + name.size() >= kMaxOpName) return;
  i->mutable_metadata().op_name =
      SharedText(name.empty() ? prefix : absl::StrCat(prefix, "/", name));
}

// Prefixes the op_names of `start` and of the loops and branches that it runs. A body that another
// instruction runs as well keeps its own names.
void PrefixOpNames(Instruction* start, const std::string& prefix, const CallCounts& calls) {
  std::vector<Instruction*> work = {start};
  while (!work.empty()) {
    Instruction* const i = work.back();
    work.pop_back();
    PrefixOpName(i, prefix);
    if (i->opcode() != Opcode::kWhile && i->opcode() != Opcode::kConditional &&
        i->opcode() != Opcode::kCall)
      continue;
    for (const Computation* body : i->called()) {
      const auto found = calls.find(body);
      if (found == calls.end() || found->second != 1) continue;
      body->ForEach([&](Instruction* inner) { work.push_back(inner); });
    }
  }
}

class CallInliner final : public Pass {
 public:
  explicit CallInliner(PassArguments& arguments)
      : manual_bodies_(
            arguments.Flag("manual-bodies", "inlines bodies of manual computations too")) {}
  absl::string_view name() const override { return "call-inliner"; }
  absl::StatusOr<bool> Run(Module& module) override;

 private:
  void Inline(Instruction* call);

  const bool manual_bodies_;
  CallCounts calls_;
};

void CallInliner::Inline(Instruction* call) {
  Computation& into = *call->parent();
  const std::string prefix(absl::string_view(call->metadata().op_name));
  const bool called_again = --calls_[call->to_apply()] > 0;
  std::vector<Instruction*> made;
  Instruction* const root = CopyBody(*call->to_apply(), call->operands(), into, &made);
  for (Instruction* i : made) {
    if (called_again)  // the copies share what they call with the callee
      for (const Computation* shared : i->called()) ++calls_[shared];
    if (!prefix.empty()) PrefixOpNames(i, prefix, calls_);
  }
  call->ReplaceAllUsesWith(root);
  into.Remove(call);
}

absl::StatusOr<bool> CallInliner::Run(Module& module) {
  bool changed = false;
  int64_t copied = 0;
  calls_ = CountCalls(module);
  const int64_t limit = std::max(kFreelyInlined, kMaxInlineGrowth * InstructionCount(module));
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->Instructions()) {
      if (!IsInlineable(i, manual_bodies_) || copied > limit) continue;
      copied += i->to_apply()->instruction_count();
      Inline(i);
      changed = true;
    }
  if (!changed) return false;
  for (Computation* c : module.Computations()) RemoveDead(*c);
  RemoveUncalled(module);
  return true;
}

}  // namespace

std::unique_ptr<Pass> CreateCallInliner(PassArguments& arguments) {
  return std::make_unique<CallInliner>(arguments);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
