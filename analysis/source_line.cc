// Rows of the stack frame tables are numbered from one; numbers out of range name nothing.
#include "analysis/source_line.h"

#include "absl/strings/str_cat.h"
#include "ir/module.h"

namespace hlokit {
namespace {

template <typename Row>
const Row* RowOf(const std::vector<Row>& rows, int64_t number) {
  return number >= 1 && number <= static_cast<int64_t>(rows.size()) ? &rows[number - 1] : nullptr;
}

}  // namespace

std::string SourceLine(const Instruction& i) {
  const OpMetadata& metadata = i.metadata();
  const absl::string_view file = metadata.source_file;
  if (!file.empty()) return absl::StrCat(file, ":", metadata.source_line);
  if (metadata.stack_frame_id == 0) return "";
  const StackFrameTables& tables = i.module()->header().stack_frames;
  const auto* frame = RowOf(tables.frames, metadata.stack_frame_id);
  const auto* location = frame == nullptr ? nullptr : RowOf(tables.locations, frame->file_location_id);
  const auto* name = location == nullptr ? nullptr : RowOf(tables.file_names, location->file_name_id);
  return name == nullptr ? "" : absl::StrCat(*name, ":", location->line);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
