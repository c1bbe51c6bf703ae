// Rows are numbered from one; numbers out of range name nothing.
#include "ir/stack_frames.h"

#include <algorithm>

namespace hlokit {
namespace {

template <typename Row>
const Row* RowOf(const std::vector<Row>& rows, int64_t number) {
  return number >= 1 && number <= static_cast<int64_t>(rows.size()) ? &rows[number - 1] : nullptr;
}

}  // namespace

std::optional<StackFrame> ReadStackFrame(const StackFrameTables& tables, int64_t id) {
  const auto* row = RowOf(tables.frames, id);
  const auto* location = row == nullptr ? nullptr : RowOf(tables.locations, row->file_location_id);
  if (location == nullptr) return std::nullopt;
  const std::string* file = RowOf(tables.file_names, location->file_name_id);
  const std::string* function = RowOf(tables.function_names, location->function_name_id);
  if (file == nullptr || function == nullptr) return std::nullopt;
  return StackFrame{*file, *function, location->line,
                    std::max<int64_t>(row->parent_frame_id - kCallerInText, 0)};
}

std::vector<StackFrame> CallStack(const StackFrameTables& tables, int64_t id, int64_t limit) {
  std::vector<StackFrame> stack;
  while (static_cast<int64_t>(stack.size()) < limit) {
    const std::optional<StackFrame> frame = ReadStackFrame(tables, id);
    if (!frame) break;
    stack.push_back(*frame);
    id = frame->caller;
  }
  return stack;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
