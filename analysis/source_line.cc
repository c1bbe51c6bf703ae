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
  const auto part_end = [&](size_t from) {
    return from == name.npos ? from : name.find('/', from + 1);
  };
  const size_t first = part_end(0), second = part_end(first);
  // Of JAX's functions the part `jit(main)` says nothing.
  const bool is_main = first != name.npos && name.substr(first, second - first) == "/jit(main)";
  return std::string(name.substr(0, is_main ? part_end(second) : second));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
