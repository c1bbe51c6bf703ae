// A sweep over the order of execution.
//   a begins at 1 (8 bytes), b at 2 in another place (4), a ends at 3: 0, 8, 12, 4
// Values that share a place of the arena (an update and what it overwrites) count once.
#include "analysis/live_memory.h"

#include <algorithm>
#include <map>
#include <utility>

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

}  // namespace

std::vector<LiveMemory> LiveMemoryOverTime(const BufferAssignment& plan, const ValueFlow& flow) {
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
  LivePlaces live;
  std::vector<LiveMemory> points = {{0, 0}};
  for (size_t c = 0; c < changes.size();) {
    const int64_t time = changes[c].time;
    for (; c < changes.size() && changes[c].time == time; ++c)
      changes[c].ends ? live.End(changes[c].slice) : live.Begin(changes[c].slice);
    points.push_back({time, live.bytes()});
  }
  return points;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
