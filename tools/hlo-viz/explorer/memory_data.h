// Where a module's arrays lie in memory and when they live, as JSON that page/memory.js reads.
#pragma once

#include <string>

#include "tools/hlo-viz/graph/module_index.h"

namespace hlokit {

// What XLA has dumped with a module, as far as it is there: the texts of
// NAME-buffer-assignment.txt, NAME-live-range.txt and NAME-memory-usage-report.txt.
struct MemoryFiles {
  std::string assignment, live_ranges, report;
};

// {"source":"xla" or "hlokit", "end":t, "steps":[instruction or -1 at each time],
//  "allocations":[[bytes, what for]], "report":text,
//  "values":[[instruction or -1, name, bytes, begin, end, allocation or -1, offset]]}
// XLA's own assignment where `files` has it, with its own times where these are told too; else
// ours. Instructions are numbered in the order of the text. Empty where neither is to be had: the
// module is not scheduled, or its values cannot be followed.
std::string MemoryData(const ModuleIndex& index, const MemoryFiles& files);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
