// Renumbering of stack frames and of what they refer to.
//
// A frame is a location and its caller; a location names a file and a function. Frames that no
// instruction uses are dropped and the others numbered in the order of first use, callers before
// the frames that they call, as XLA does when it reads a module:
//   used: 7 (caller 2)   ->   2 becomes 1, 7 becomes 2 (caller 1)
// Equal rows become one. A chain of callers that leaves the table or runs in a circle has no number
// (kNoFrame) and neither has anything that it calls. Cost: each frame is followed once.
#include "printer/stack_frames.h"

namespace hlokit {
// Appends `frame` and its callers, innermost first, up to one that has a new number.
bool StackFrameNumbering::FollowCallers(int64_t frame, std::vector<int64_t>& chain) const {
  const auto count = static_cast<int64_t>(given_.frames.size());
  while (frame > 0) {
    if (frame > count || static_cast<int64_t>(chain.size()) > count || new_ids_[frame] == kNoFrame)
      return false;
    chain.push_back(frame);
    if (new_ids_[frame] > 0) return true;
    const std::optional<StackFrame> row = ReadStackFrame(given_, frame);
    if (!row) return false;
    frame = row->caller;
  }
  return true;
}

void StackFrameNumbering::Use(int64_t frame) {
  if (frame < 1 || frame > static_cast<int64_t>(given_.frames.size()) || new_ids_[frame] != 0)
    return;
  std::vector<int64_t> chain;
  if (!FollowCallers(frame, chain)) {
    new_ids_[frame] = kNoFrame;
    return;
  }
  int64_t caller = 0;
  for (auto given = chain.rbegin(); given != chain.rend(); ++given) {
    int64_t& id = new_ids_[*given];
    if (id == 0) {
      const int64_t location = InternLocation(given_.frames[*given - 1].file_location_id);
      const auto [found, added] =
          frame_ids_.try_emplace({location, caller}, static_cast<int64_t>(made_.frames.size()) + 1);
      if (added) made_.frames.push_back({location, caller + kCallerInText});
      id = found->second;
    }
    caller = id;
  }
}

int64_t StackFrameNumbering::NewId(int64_t frame) const {
  if (frame < 1 || frame > static_cast<int64_t>(given_.frames.size())) return 0;
  return std::max<int64_t>(new_ids_[frame], 0);
}

int64_t StackFrameNumbering::Intern(absl::Span<const std::string> given, int64_t id,
                                    std::vector<std::string>& made,
                                    absl::flat_hash_map<std::string, int64_t>& ids) {
  if (id < 1 || id > static_cast<int64_t>(given.size())) return 0;
  const auto [found, added] = ids.try_emplace(given[id - 1], static_cast<int64_t>(made.size()) + 1);
  if (added) made.push_back(given[id - 1]);
  return found->second;
}

int64_t StackFrameNumbering::InternLocation(int64_t id) {
  Location location = given_.locations[id - 1];
  location.file_name_id =
      Intern(given_.file_names, location.file_name_id, made_.file_names, file_ids_);
  location.function_name_id =
      Intern(given_.function_names, location.function_name_id, made_.function_names, function_ids_);
  const std::tuple key(location.file_name_id, location.function_name_id, location.line,
                       location.end_line, location.column, location.end_column);
  const auto [found, added] =
      location_ids_.try_emplace(key, static_cast<int64_t>(made_.locations.size()) + 1);
  if (added) made_.locations.push_back(location);
  return found->second;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
