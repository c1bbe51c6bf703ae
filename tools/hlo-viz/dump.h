// Folders of modules for one page: XLA's dumps, or plain .hlo files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/common/dump_folder.h"

namespace hlokit {

// The dumps of the folder as ReadDumpFolder orders them; where there are none, its .hlo files, each
// a module of one stage. Errors: NotFound where there are no such files either.
absl::StatusOr<std::vector<DumpedModule>> ModulesOfFolder(const std::string& folder);

// What a page calls a stage: `0005 simplification: call-inliner`.
std::string StageLabel(const DumpStage& stage);

// A number that changes when files are added, removed or written.
int64_t RevisionOf(const std::string& folder);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
