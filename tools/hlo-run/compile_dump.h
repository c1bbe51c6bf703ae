// --dump-to: what a module was before and after compiling, in files that are named as XLA's are.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "ir/module.h"
#include "support/scratch_folder.h"

namespace hlokit {

// FOLDER/module_0000.NAME.before_optimizations.txt and module_0000.NAME.cpu_after_optimizations.txt,
// which hlo-opt, hlo-diff and hlo-viz read as they read a folder of XLA's, beside the code that the
// backend writes there (LLVM IR, assembly, PTX). Of `-` all texts go to standard output, each
// between `*** Begin NAME ***` and `*** End NAME ***`.
//
//   CompileDump dump("-", "cpu", module);
//   dump.Start(module, options.dump_to);  // then compile with these options
//   dump.End(program.module());
class CompileDump {
 public:
  CompileDump(std::string folder, std::string platform, const Module& module);

  // Writes the module as it is before the passes, and sets the folder for the backend's files.
  absl::Status Start(const Module& module, std::string& backend_folder);
  // Writes the module after the passes; of `-` the backend's texts too.
  absl::Status End(const Module& compiled) const;

 private:
  const std::string folder_, platform_;
  const std::string stem_;                // module_0000.NAME
  std::optional<ScratchFolder> scratch_;  // of `-`: where the backend writes
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
