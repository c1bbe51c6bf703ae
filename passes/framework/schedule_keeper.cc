// Schedules taken out and held against what a pass left.
#include "passes/framework/schedule_keeper.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace hlokit {

ScheduleKeeper::ScheduleKeeper(Module& module)
    : module_(module), scheduled_(module.header().is_scheduled) {
  for (Computation* c : module.Computations()) {
    if (!c->has_schedule()) continue;
    Kept& kept = kept_.emplace_back(Kept{c, c->id(), {}});
    for (Instruction* i : c->schedule()) kept.schedule.emplace_back(i, i->id());
    c->clear_schedule();
  }
  module.header().is_scheduled = false;
}

void ScheduleKeeper::Restore() {
  absl::flat_hash_map<const Computation*, int64_t> alive;
  if (!kept_.empty())
    for (const Computation* c : module_.Computations()) alive.emplace(c, c->id());
  for (const Kept& kept : kept_) {
    const auto found = alive.find(kept.computation);
    if (found == alive.end() || found->second != kept.computation_id || !StillFits(kept)) return;
  }
  for (const Kept& kept : kept_) {
    std::vector<Instruction*> schedule;
    for (const auto& [instruction, id] : kept.schedule) schedule.push_back(instruction);
    kept.computation->set_schedule(std::move(schedule));
  }
  module_.header().is_scheduled = scheduled_;
}

// The computation is alive; its schedule may name what is not, so nothing that it names is read.
bool ScheduleKeeper::StillFits(const Kept& kept) {
  if (kept.computation->instruction_count() != static_cast<int64_t>(kept.schedule.size()))
    return false;
  absl::flat_hash_map<const Instruction*, int64_t> places;
  for (const auto& [instruction, id] : kept.schedule) places.emplace(instruction, places.size());
  bool fits = places.size() == kept.schedule.size();
  kept.computation->ForEach([&](const Instruction* i) {
    const auto place = places.find(i);
    fits = fits && place != places.end() && kept.schedule[place->second].second == i->id();
    const auto stands_before = [&](const Instruction* needed) {
      const auto found = places.find(needed);
      return found != places.end() && found->second < place->second;
    };
    for (const auto needed : {i->operands(), i->control_predecessors()})
      fits = fits && std::all_of(needed.begin(), needed.end(), stands_before);
  });
  return fits;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
