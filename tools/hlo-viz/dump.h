// Folders of modules for one page: XLA's dumps, or plain .hlo files.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/common/dump_folder.h"
#include "tools/hlo-viz/explorer/kernel_code.h"
#include "tools/hlo-viz/explorer/memory_data.h"

namespace hlokit {

// The dumps of the folder as ReadDumpFolder orders them, and snapshots of modules that are not
// dumped otherwise; where there are none, its .hlo files, each a module of one stage. Errors:
// NotFound where there are no such files either.
absl::StatusOr<std::vector<DumpedModule>> ModulesOfFolder(const std::string& folder);

// What a page calls a stage: `0005 simplification: call-inliner`.
std::string StageLabel(const DumpStage& stage);

// What XLA has dumped of memory with a module's file (its path without .txt or .hlo.pb, and
// -buffer-assignment.txt, ...); empty where there is nothing.
MemoryFiles ReadMemoryFiles(const std::string& module_path);

// The LLVM IR, PTX and assembler that was dumped for the module of a file that holds it after all
// passes (module_0001.jit_f.cpu_after_optimizations.txt: module_0001.jit_f.*.ll, ...), 64 MiB of it
// at most; empty for other files.
std::vector<CodeFile> ReadCodeFiles(const std::string& module_path);

// A number that changes when a module's file, or one of memory with it, is written.
uint64_t StampOf(const std::string& module_path);
// The same for a module's file, or all files below a folder; not negative, exact as a number of
// JavaScript.
int64_t RevisionOf(const std::string& path);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
