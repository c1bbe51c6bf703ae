// Reading what XLA dumps of its buffer assignment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace hlokit {

struct XlaAllocation {
  int64_t size = 0;
  std::string purpose;  // "parameter 1, shape |f32[5,8]| at ShapeIndex {}", "preallocated-temp"
  bool thread_local_memory = false;  // of scalars inside reducers and the like
};

struct XlaBuffer {
  std::string instruction, index;  // `while`, `1,0` of `while{1,0}`
  int64_t size = 0, offset = 0;
  int allocation = 0;
};

struct XlaAssignment {
  std::vector<XlaAllocation> allocations;
  std::vector<XlaBuffer> buffers;
};

// Of NAME-buffer-assignment.txt; lines of other kinds are passed over. Empty where it holds none.
XlaAssignment ReadXlaAssignment(absl::string_view text);

struct XlaLiveRanges {
  std::vector<std::string> sequence;  // names of instructions, by time
  // First and last time of `name{index}`.
  absl::flat_hash_map<std::string, std::pair<int64_t, int64_t>> ranges;
  int64_t end = 0;  // the last time
};

// Of NAME-live-range.txt.
XlaLiveRanges ReadXlaLiveRanges(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
