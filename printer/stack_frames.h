// The stack-frame tables as XLA prints them: only what instructions use, numbered as they come up.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/stack_frames.h"

namespace hlokit {

class StackFrameNumbering {
 public:
  explicit StackFrameNumbering(const StackFrameTables& given)
      : given_(given), new_ids_(given.frames.size() + 1, 0) {}

  // Takes a frame, its callers first, into the new tables. A number beyond the given tables, or a
  // chain of callers that ends nowhere, is no frame.
  void Use(int64_t frame);
  // The new number of a frame that was used; 0: no frame.
  int64_t NewId(int64_t frame) const;
  const StackFrameTables& tables() const { return made_; }

 private:
  using Location = StackFrameTables::Location;
  static constexpr int64_t kNoFrame = -1;

  bool FollowCallers(int64_t frame, std::vector<int64_t>& chain) const;
  int64_t Intern(absl::Span<const std::string> given, int64_t id, std::vector<std::string>& made,
                 absl::flat_hash_map<std::string, int64_t>& ids);
  int64_t InternLocation(int64_t id);

  const StackFrameTables& given_;
  StackFrameTables made_;
  std::vector<int64_t> new_ids_;  // by given number; 0: not seen yet
  absl::flat_hash_map<std::string, int64_t> file_ids_, function_ids_;
  absl::flat_hash_map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>, int64_t>
      location_ids_;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, int64_t> frame_ids_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
