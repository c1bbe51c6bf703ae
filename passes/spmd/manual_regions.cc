// Regions handed down from callers.
#include "passes/spmd/manual_regions.h"

#include <algorithm>

#include "ops/collective/shards.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The call that a value comes from, perhaps as a part of its tuple; null: none.
const Instruction* CallOf(const Instruction* value) {
  if (value->opcode() == Opcode::kGetTupleElement) value = value->operand(0);
  return value->opcode() == Opcode::kCall ? value : nullptr;
}

// The calls that read the marker's arrays.
std::vector<const Instruction*> CallsAfter(const Instruction& marker) {
  std::vector<const Instruction*> calls;
  for (const Instruction* user : marker.users()) {
    if (user->opcode() == Opcode::kCall) calls.push_back(user);
    if (user->opcode() != Opcode::kGetTupleElement) continue;
    for (const Instruction* reader : user->users())
      if (reader->opcode() == Opcode::kCall) calls.push_back(reader);
  }
  return calls;
}

}  // namespace

bool Region::IsWholly(int64_t devices) const {
  return !groups.empty() && *std::max_element(groups.begin(), groups.end()) + 1 == devices;
}

const Region& ManualRegions::Of(const Computation* computation) const {
  static const Region* const kNone = new Region;
  const auto found = regions_.find(computation);
  return found == regions_.end() ? *kNone : found->second;
}

absl::StatusOr<Region> ManualRegions::BehindMarker(const Instruction& marker) const {
  Region region = Of(marker.parent());
  ASSIGN_OR_RETURN(const std::vector<std::string> named, StatedManualAxes(marker));
  region.axes.insert(region.axes.end(), named.begin(), named.end());
  std::sort(region.axes.begin(), region.axes.end());
  region.axes.erase(std::unique(region.axes.begin(), region.axes.end()), region.axes.end());
  const bool enters = TargetOf(marker) == "xla.sdy.GlobalToLocalShape";
  ASSIGN_OR_RETURN(region.groups,
                   ManualGroupsOf(marker, enters ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings",
                                  region.axes, devices_));
  return region;
}

absl::Status ManualRegions::Put(const Computation* computation, const Region& region) {
  const auto [at, made] = regions_.emplace(computation, region);
  if (!made && at->second.axes != region.axes)
    return Unimplemented("shardy-xla: ", computation->name(), " is called in two regions");
  return absl::OkStatus();
}

absl::Status ManualRegions::Visit(const Instruction& i) {
  if (TargetOf(i) == "xla.sdy.GlobalToLocalShape") {
    ASSIGN_OR_RETURN(const Region region, BehindMarker(i));
    for (const Instruction* call : CallsAfter(i)) RETURN_IF_ERROR(Put(call->to_apply(), region));
  }
  if (TargetOf(i) == "xla.sdy.LocalToGlobalShape") {
    ASSIGN_OR_RETURN(const Region region, BehindMarker(i));
    for (const Instruction* operand : i.operands())
      if (const Instruction* call = CallOf(operand)) RETURN_IF_ERROR(Put(call->to_apply(), region));
  }
  return absl::OkStatus();
}

absl::Status ManualRegions::Find() {
  const std::vector<Computation*> order = module_.ComputationsPostOrder();
  for (size_t k = order.size(); k-- > 0;) {  // callers first
    const std::vector<Instruction*> instructions = order[k]->Instructions();
    for (const Instruction* i : instructions) RETURN_IF_ERROR(Visit(*i));
    const Region& own = Of(order[k]);
    if (own.axes.empty()) continue;
    for (const Instruction* i : instructions)
      for (const Computation* called : i->called()) regions_.emplace(called, own);
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
