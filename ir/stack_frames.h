// Where in its author's program an instruction comes from: the tables of call stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// What `parent_frame_id` of a module's tables is above the row of the frame's caller, as in text: 1
// says that there is none. Messages hold the row itself, 0 for none. Source: XLA's hlo_module.cc.
inline constexpr int64_t kCallerInText = 1;

// A frame with all that its row refers to; views into the tables.
struct StackFrame {
  absl::string_view file, function;
  int64_t line = 0;
  int64_t caller = 0;  // a row, 0: none
};

// Row `id` of the frames; nothing where the tables lack it, its location or a name.
std::optional<StackFrame> ReadStackFrame(const StackFrameTables& tables, int64_t id);

// Frame `id`, its caller and so on, at most `limit` of them. Ends before a row that is broken.
std::vector<StackFrame> CallStack(const StackFrameTables& tables, int64_t id, int64_t limit);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
