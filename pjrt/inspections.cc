// Shardings are told while a program is compiled.
//
// A program asks by `custom-call(x), custom_call_target="InspectSharding", backend_config="7"`: x
// is the value, 7 what the framework knows it by. Programs run on whole arrays here and have no
// partitioner, so a copy of the module is made in which shardings are spread as Shardy spreads
// them; the copy says how x would be cut, e.g. `{devices=[4,2]<=[8]}`. A copy costs as much as
// choosing the cuts of arguments does, and only modules that ask pay it.
#include "pjrt/inspections.h"

#include <atomic>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "ir/sharding.h"
#include "pjrt/chosen_cuts.h"
#include "printer/printer.h"
#include "support/status.h"

namespace hlokit {
namespace {

std::atomic<PjrtInspector> inspector = nullptr;

std::vector<Instruction*> InspectionsOf(const Module& module) {
  std::vector<Instruction*> found;
  for (Computation* computation : module.Computations())
    for (Instruction* i : computation->PostOrder())
      if (i->opcode() == Opcode::kCustomCall && i->users().empty() && !i->IsRoot() &&
          i->attr<CustomCallAttrs>().target == "InspectSharding")
        found.push_back(i);
  return found;
}

absl::Status TellAll(const Module& module, const PjrtCompileOptions& options, PjrtInspector tell) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> copy, SpreadCopy(module, options));
  for (const Instruction* i : InspectionsOf(*copy)) {
    int64_t number = 0;
    if (i->operand_count() != 1 || !absl::SimpleAtoi(i->backend_config(), &number)) continue;
    const Sharding* sharding = i->operand(0)->sharding();
    if (tell(number, Text(sharding == nullptr ? Sharding() : *sharding).c_str()) != 0)
      return InvalidArgument("a callback of inspect_array_sharding failed");
  }
  return absl::OkStatus();
}

}  // namespace

void SetPjrtInspector(PjrtInspector function) { inspector = function; }

absl::Status TellShardings(Module& module, const PjrtCompileOptions& options) {
  const std::vector<Instruction*> inspections = InspectionsOf(module);
  if (inspections.empty()) return absl::OkStatus();
  if (const PjrtInspector tell = inspector; tell != nullptr && options.partitions > 1)
    RETURN_IF_ERROR(TellAll(module, options, tell));
  for (Instruction* i : inspections) i->parent()->Remove(i);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
