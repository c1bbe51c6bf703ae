// The metadata's own line comes before that of a stack frame.
#include "analysis/source_line.h"

#include "absl/strings/str_cat.h"
#include "ir/stack_frames.h"

namespace hlokit {
std::string SourceLine(const Instruction& i) {
  const OpMetadata& metadata = i.metadata();
  const absl::string_view file = metadata.source_file;
  if (!file.empty()) return absl::StrCat(file, ":", metadata.source_line);
  if (metadata.stack_frame_id == 0) return "";
  const std::optional<StackFrame> frame =
      ReadStackFrame(i.module()->header().stack_frames, metadata.stack_frame_id);
  return frame ? absl::StrCat(frame->file, ":", frame->line) : "";
}

std::string OuterScope(const Instruction& instruction) {
  const absl::string_view name = absl::string_view(instruction.metadata().op_name);
  const size_t first = name.find('/');
  const size_t second = first == name.npos ? name.npos : name.find('/', first + 1);
  return std::string(name.substr(0, second));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
