// A sweep over the order of execution: values that share a place of the arena count once.
#include "simulate/memory_profile.h"

#include <algorithm>
#include <map>

#include "analysis/buffer_assignment.h"
#include "analysis/value_flow.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The arena's places that hold a live value, and how many of them each holds.
class LivePlaces {
 public:
  void Begin(const Slice& slice) {
    if (live_[{slice.offset, slice.size}]++ == 0) bytes_ += slice.size;
  }
  void End(const Slice& slice) {
    const auto found = live_.find({slice.offset, slice.size});
    if (found == live_.end() || --found->second > 0) return;
    bytes_ -= slice.size;
    live_.erase(found);
  }
  int64_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<int64_t, int64_t>, int> live_;  // by offset and size
  int64_t bytes_ = 0;
};

struct Change {
  int64_t time;
  bool ends;
  Slice slice;
};

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
  std::vector<Change> changes;
  for (const FlowValue& value : flow.values) {
    if (value.kind != FlowValue::Kind::kComputed || value.def == nullptr) continue;
    const absl::Span<const Slice> slices = plan.slices(value.def);
    if (value.leaf >= static_cast<int64_t>(slices.size())) continue;
    const Slice& slice = slices[value.leaf];
    if (slice.kind != Slice::Kind::kArena || slice.size == 0) continue;
    changes.push_back({value.begin, false, slice});
    changes.push_back({value.end + 1, true, slice});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.time, !a.ends) < std::pair(b.time, !b.ends);
  });
  // Seconds of each time: those of the last instruction that started by then.
  std::vector<std::pair<int64_t, double>> starts;
  for (const Instruction* i : flow.order)
    if (prediction.first_start[i->id()] >= 0)
      starts.emplace_back(flow.time[i->id()], prediction.first_start[i->id()]);
  std::stable_sort(starts.begin(), starts.end());
  LivePlaces live;
  size_t next = 0;
  double seconds = 0;
  profile.points.push_back({0, held});
  profile.peak = held;
  for (size_t c = 0; c < changes.size();) {
    const int64_t time = changes[c].time;
    for (; c < changes.size() && changes[c].time == time; ++c)
      changes[c].ends ? live.End(changes[c].slice) : live.Begin(changes[c].slice);
    for (; next < starts.size() && starts[next].first <= time; ++next)
      seconds = std::max(seconds, starts[next].second);
    const int64_t bytes = held + live.bytes();
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
