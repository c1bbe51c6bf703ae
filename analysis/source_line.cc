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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
