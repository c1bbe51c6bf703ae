// Dump folders of XLA: which files hold modules, and in which order.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

struct DumpFile {
  std::string path;
  std::string module;  // `module_0006.jit_f`; of other files the name
  std::string label;   // `before_optimizations`, `simplification: after algsimp`, ...
  int64_t order = 0;   // in its module
};

// The modules of `module_N.NAME.STEP.txt` (.hlo, .pb, .pbtxt) files and of any other `.hlo` files,
// sorted by module, then by step: before optimizations, XLA's numbers of passes, after
// optimizations. Where a step is there as text and as protobuf, the text. Errors: NotFound where
// the folder cannot be read or has no modules.
absl::StatusOr<std::vector<DumpFile>> ListDump(const std::string& folder);

// A number that changes when files are added, removed or written.
int64_t RevisionOf(const std::string& folder);

// What a file's name says of it; an empty module for files that hold none.
DumpFile ReadDumpName(absl::string_view name);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
