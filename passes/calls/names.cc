// Names that tell readers of later stages what something was.
//
// Names of fusions and of scheduled instructions.
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "passes/framework/pass.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> Annotate(Computation& computation) {
  bool changed = false;
  for (Instruction* i : computation.Instructions()) {
    if (i->IsConstant() || i->metadata().scheduling_name.str() == i->name()) continue;
    i->mutable_metadata().scheduling_name = i->name();
    changed = true;
  }
  return changed;
}

// The opcodes at the body's roots, in the order of their names.
std::string Heroes(const Computation& body) {
  std::set<std::string> names;
  const Instruction* root = body.root();
  const auto add = [&](const Instruction* i) {
    const absl::string_view text = Text(i->opcode());
    names.insert(absl::StrReplaceAll(text, {{"-", "_"}}));
  };
  if (root->opcode() == Opcode::kTuple)
    for (const Instruction* part : root->operands()) add(part);
  else
    add(root);
  return absl::StrJoin(names, "_");
}

absl::string_view KindPrefix(const Instruction& fusion) {
  const FusionKind kind = fusion.attr<FusionAttrs>().kind;
  if (kind == FusionKind::kLoop) return "loop_";
  if (kind == FusionKind::kInput) return "input_";
  return kind == FusionKind::kOutput ? "output_" : "";
}

// Whether `name` is `wanted`, perhaps with a number after it.
bool IsNamed(absl::string_view name, absl::string_view wanted) {
  if (!absl::ConsumePrefix(&name, wanted)) return false;
  return name.empty() || name[0] == '.';
}

absl::StatusOr<bool> Rename(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (i->opcode() != Opcode::kFusion) continue;
      const std::string heroes = Heroes(*i->to_apply());
      const std::string name = absl::StrCat(KindPrefix(*i), heroes, "_fusion");
      if (!IsNamed(i->name(), name)) {
        i->set_name(module.UniqueName(name));
        changed = true;
      }
      const std::string body = absl::StrCat("fused_", heroes);
      if (!IsNamed(i->to_apply()->name(), body)) {
        i->to_apply()->set_name(module.UniqueComputationName(body));
        changed = true;
      }
    }
  return changed;
}

}  // namespace

// scheduling-instruction-annotator: instructions of computations that run on their own, other than
// constants, keep their names in their metadata (scheduling_name), which later renaming leaves as
// it is.
std::unique_ptr<Pass> CreateSchedulingInstructionAnnotator() {
  return MakeComputationPass("scheduling-instruction-annotator", Annotate);
}

// rename_fusions: fusions are named after their kind and the operations at their roots
// (loop_add_fusion), their bodies after the latter (fused_add).
std::unique_ptr<Pass> CreateRenameFusions() { return MakeModulePass("rename_fusions", Rename); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
