// Folders that XLA's --xla_dump_to fills: which files are modules, of which program, in which
// order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// A module as it stood at one moment.
struct DumpStage {
  std::string path;
  int64_t number = 0;  // XLA's own; kBeforeAll and kAfterAll for the two without one
  std::string pipeline,
      pass;          // what ran just before; pass is pipeline-start where a pipeline began
  std::string next;  // the pass that came then; empty where the name does not tell
  // "before_optimizations", "0005 call-inliner": for tables.
  std::string Title() const;
};
inline constexpr int64_t kBeforeAll = -1;
inline constexpr int64_t kAfterAll = int64_t{1} << 40;

struct DumpedModule {
  std::string name;  // module_0000.jit_f
  std::vector<DumpStage> stages;
};

// True for a folder.
bool IsFolder(const std::string& path);
// Makes a folder, and those above it, where they are missing. `-`, standard output, is none.
absl::Status MakeFolder(const std::string& path);
// A folder for dumps, or `-`: standard output, where XLA puts the files of --xla_dump_to=- too.
absl::Status MakeDumpFolder(const std::string& path);
// Writes a file of a dump into the folder; of `-` between the lines `*** Begin NAME ***` and
// `*** End NAME ***`.
absl::Status WriteDumpFile(const std::string& folder, absl::string_view name,
                           absl::string_view contents);

// The modules below a folder by name, each with its stages by number. Other files (graphs, LLVM IR,
// buffer assignments) are left out; of one stage in several forms the text counts. Errors: NotFound
// where there is no folder or nothing that reads as a dump.
absl::StatusOr<std::vector<DumpedModule>> ReadDumpFolder(const std::string& path);

// What a file's name says; false where it is no module of a dump.
bool ParseDumpName(absl::string_view file_name, std::string& module, DumpStage& stage);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
