// The pass runs on a copy.
#include "tools/hlo-viz/graph/trip_counts.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "analysis/trip_count.h"
#include "passes/loops/while_loop_trip_count_annotator.h"

namespace hlokit {
namespace {

absl::flat_hash_map<std::string, int64_t> CountsByName(const Module& module) {
  absl::flat_hash_map<std::string, int64_t> counts;
  const std::unique_ptr<Module> copy = module.Clone();
  if (!CreateWhileLoopTripCountAnnotator()->Run(*copy).ok()) return counts;
  for (const Computation* computation : copy->Computations())
    for (const Instruction* i : computation->Instructions())
      if (const auto known = KnownTripCount(*i)) counts[i->name()] = *known;
  return counts;
}

}  // namespace

std::vector<int64_t> TripCounts(const Module& module) {
  std::vector<const Instruction*> unknown;
  std::vector<int64_t> counts;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions()) {
      if (i->opcode() != Opcode::kWhile) continue;
      counts.resize(module.id_bound(), 0);
      if (const auto known = KnownTripCount(*i)) {
        counts[i->id()] = *known;
      } else {
        unknown.push_back(i);
      }
    }
  if (unknown.empty()) return counts;
  const auto by_name = CountsByName(module);
  for (const Instruction* i : unknown)
    if (const auto it = by_name.find(i->name()); it != by_name.end()) counts[i->id()] = it->second;
  return counts;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
