// The body's parameters, the copies, and the fusion that takes the uses over.
#include "passes/rewrite/custom_fusion.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/module.h"
#include "passes/rewrite/control_edges.h"

namespace hlokit {

Instruction* PutCustomFusion(absl::string_view name, Instruction* last,
                             absl::Span<const Instruction* const> members,
                             absl::Span<const Instruction* const> operands,
                             const Instruction& described) {
  Computation* body = last->module()->AddComputation(name);
  std::vector<Instruction*> read;
  absl::flat_hash_map<const Instruction*, Instruction*> inside;
  for (const Instruction* i : operands) {
    if (i == nullptr || inside.contains(i)) continue;
    const auto number = static_cast<int64_t>(read.size());
    inside[i] = body->AddParameter(number, i->shape(), absl::StrCat("param_", number));
    read.push_back(const_cast<Instruction*>(i));
  }
  for (const Instruction* i : members) {
    std::vector<Instruction*> copies;
    for (const Instruction* operand : i->operands()) copies.push_back(inside.at(operand));
    inside[i] = body->Add(i->CloneWith(i->shape(), copies), i->name());
  }
  body->set_root(inside.at(last));
  FusionAttrs attrs;
  attrs.kind = FusionKind::kCustom;
  Instruction* fusion = last->parent()->Add(Opcode::kFusion, last->shape(), read, std::move(attrs),
                                            absl::StrCat(name, "_fusion"));
  fusion->set_called({body});
  fusion->CopyExtrasFrom(described);
  last->ReplaceAllUsesWith(fusion);
  PassOnControlEdges(last, fusion, /*is_new=*/true);
  return fusion;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
