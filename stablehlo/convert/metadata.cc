// Metadata from locations: the name of the framework's operation, its source line and call stack.
//
//   loc("jit(f)/add"(callsite("f"("a.py":3:1) at "g"("b.py":9:1))))
// gives op_name="jit(f)/add" and a stack frame. The module's header holds four tables (files,
// functions, locations, frames); a frame is a location and the frame of its caller, counted from 1:
//   locations: 1 b.py g 9:1   2 a.py f 3:1        frames: 1 (1, no caller)   2 (2, caller 1)
// Rows are found by a hash of their text, so a stack that a thousand operations share is stored
// once. Metadata is cached by location: an alias (#loc7) is resolved once.
#include <limits>

#include "ir/stack_frames.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// Chains of locations as long as hostile files make them are cut.
constexpr int kMaxFrames = 256;

// A line or column as HLO's tables hold it, in 32 bits with a sign; 0, unknown, where it is larger.
int64_t InHlo(int64_t number) {
  return number < 0 || number > std::numeric_limits<int32_t>::max() ? 0 : number;
}

// Row of `text` in a table, counted from 1; appended where it is new.
int64_t RowOf(std::vector<std::string>& table, absl::flat_hash_map<std::string, int64_t>& rows,
              const std::string& text) {
  int64_t& row = rows[text];
  if (row == 0) {
    table.push_back(text);
    row = static_cast<int64_t>(table.size());
  }
  return row;
}

// The first location of a file in a location; null where there is none.
const MlirLocation* FileOf(const MlirLocation* location, std::string& function) {
  for (int i = 0; location != nullptr && i < kMaxFrames; ++i) {
    if (location->kind == MlirLocation::Kind::kFile) return location;
    if (location->kind == MlirLocation::Kind::kName) function = location->text;
    location = location->inner.empty() ? nullptr : location->inner[0];
  }
  return nullptr;
}

}  // namespace

int64_t StackFrameMaker::Frame(const MlirLocation* location) {
  // From the innermost call outwards, then rows from the outermost in.
  std::vector<const MlirLocation*> calls;
  while (location != nullptr && static_cast<int>(calls.size()) < kMaxFrames) {
    const bool call =
        location->kind == MlirLocation::Kind::kCallSite && location->inner.size() == 2;
    calls.push_back(call ? location->inner[0] : location);
    location = call ? location->inner[1] : nullptr;
  }
  int64_t caller = 0;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    std::string function;
    const MlirLocation* file = FileOf(*call, function);
    if (file == nullptr) continue;
    StackFrameTables::Location at;
    at.file_name_id = RowOf(tables_.file_names, files_, file->text);
    at.function_name_id = RowOf(tables_.function_names, functions_, function);
    at.line = InHlo(file->line);
    at.end_line = InHlo(file->end_line);
    at.column = InHlo(file->column);
    at.end_column = InHlo(file->end_column);
    const std::string key = absl::StrCat(at.file_name_id, ":", at.function_name_id, ":", at.line,
                                         ":", at.column, ":", at.end_line, ":", at.end_column);
    int64_t& row = locations_[key];
    if (row == 0) {
      tables_.locations.push_back(at);
      row = static_cast<int64_t>(tables_.locations.size());
    }
    int64_t& frame = frames_[{row, caller}];
    if (frame == 0) {
      tables_.frames.push_back({row, caller + kCallerInText});
      frame = static_cast<int64_t>(tables_.frames.size());
    }
    caller = frame;
  }
  return caller;
}

Shared<OpMetadata> ModuleConverter::Metadata(const MlirLocation* location) {
  if (location == nullptr || location->kind == MlirLocation::Kind::kUnknown) return {};
  const auto known = metadata_.find(location);
  if (known != metadata_.end()) return known->second;
  OpMetadata metadata;
  const MlirLocation* at = location;
  if (at->kind == MlirLocation::Kind::kFused && !at->inner.empty()) at = at->inner[0];
  if (at->kind == MlirLocation::Kind::kName) {
    metadata.op_name = SharedText(at->text);
    at = at->inner.empty() ? nullptr : at->inner[0];
  }
  metadata.stack_frame_id = frames_.Frame(at);
  if (metadata == OpMetadata()) return metadata_[location] = {};
  return metadata_[location] = Shared<OpMetadata>(std::move(metadata));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
