// Where programs that run side by side meet (parallel.cc): at which operations, and whether there
// are such inside of loops and branches, which all go through together then.
//   while { ... func.call @f ... } with an all_reduce in f: the all_reduce is found
// Cost: each operation of a region, and of each function called there, is looked at once.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "stablehlo/convert/collectives_internal.h"

namespace hlokit {
namespace {

// Operations beside collectives that mean something of their own between processes.
constexpr absl::string_view kOwnOperations[] = {"stablehlo.infeed", "stablehlo.partition_id",
                                                "stablehlo.recv", "stablehlo.replica_id",
                                                "stablehlo.send"};

bool IsMeeting(absl::string_view name) {
  return MeetingOf(name) != Meeting::kNone ||
         std::find(std::begin(kOwnOperations), std::end(kOwnOperations), name) !=
             std::end(kOwnOperations);
}

const MlirOperation* FindMeeting(const MlirOperation& op, const ModuleConverter& module,
                                 absl::flat_hash_set<const MlirOperation*>& functions) {
  for (const MlirRegion& region : op.regions)
    for (const auto& block : region.blocks)
      for (const auto& inner : block->operations) {
        if (IsMeeting(inner->name)) return inner.get();
        if (const MlirOperation* found = FindMeeting(*inner, module, functions)) return found;
        const MlirAttribute* callee =
            inner->Find(inner->name == "stablehlo.composite" ? "decomposition" : "callee");
        const MlirOperation* called =
            callee == nullptr ? nullptr : module.FunctionOperation(callee->text);
        if (called == nullptr || !functions.insert(called).second) continue;
        if (const MlirOperation* found = FindMeeting(*called, module, functions)) return found;
      }
  return nullptr;
}

}  // namespace

Meeting MeetingOf(absl::string_view name) {
  for (const char* both : {"stablehlo.all_gather", "stablehlo.all_reduce",
                           "stablehlo.reduce_scatter", "stablehlo.collective_reduce"})
    if (name == both) return Meeting::kByChannel;
  for (const char* one :
       {"stablehlo.all_to_all", "stablehlo.collective_broadcast", "stablehlo.collective_permute"})
    if (name == one) return Meeting::kPartitions;
  return Meeting::kNone;
}

const MlirOperation* MeetingInside(const MlirOperation& op, const ModuleConverter& module) {
  absl::flat_hash_set<const MlirOperation*> functions;
  return FindMeeting(op, module, functions);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
