// What lives in the arena over the order of execution (analysis/live_memory.h), at the times of the
// predicted step.
#include "simulate/memory_profile.h"

#include <algorithm>

#include "analysis/buffer_assignment.h"
#include "analysis/live_memory.h"
#include "analysis/value_flow.h"
#include "support/status.h"

namespace hlokit {
namespace {

void AddHeld(const BufferAssignment& plan, MemoryProfile& profile) {
  for (const int64_t size : plan.parameter_sizes()) profile.arguments += size;
  for (const int64_t size : plan.output_sizes()) profile.results += size;
  for (const Donation& donation : plan.donations())
    profile.results -= plan.output_sizes()[donation.result];
  for (const Instruction* constant : plan.constants())
    profile.constants += plan.slice(constant).size;
}

}  // namespace

absl::StatusOr<MemoryProfile> MemoryOf(const Module& module, const StepPrediction& prediction) {
  BufferOptions options;
  options.donate = true;
  ASSIGN_OR_RETURN(const BufferAssignment plan, BufferAssignment::Make(module, options));
  ASSIGN_OR_RETURN(const ValueFlow flow, ValueFlow::Make(module));
  MemoryProfile profile;
  AddHeld(plan, profile);
  const int64_t held = profile.arguments + profile.results + profile.constants;
  // Seconds of each time: those of the last instruction that started by then.
  std::vector<std::pair<int64_t, double>> starts;
  for (const Instruction* i : flow.order)
    if (prediction.first_start[i->id()] >= 0)
      starts.emplace_back(flow.time[i->id()], prediction.first_start[i->id()]);
  std::stable_sort(starts.begin(), starts.end());
  size_t next = 0;
  double seconds = 0;
  profile.points.push_back({0, held});
  profile.peak = held;
  for (const LiveMemory& point : LiveMemoryOverTime(plan, flow)) {
    for (; next < starts.size() && starts[next].first <= point.time; ++next)
      seconds = std::max(seconds, starts[next].second);
    const int64_t bytes = held + point.bytes;
    if (bytes > profile.peak) {
      profile.peak = bytes;
      profile.peak_at = seconds;
    }
    if (profile.points.back().seconds == seconds && profile.points.size() > 1) {
      profile.points.back().bytes = std::max(profile.points.back().bytes, bytes);
    } else if (profile.points.back().bytes != bytes) {
      profile.points.push_back({seconds, bytes});
    }
  }
  for (const BufferAssignment::LiveArray& array : plan.at_peak())
    profile.at_peak.push_back({array.maker, array.size});
  return profile;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
