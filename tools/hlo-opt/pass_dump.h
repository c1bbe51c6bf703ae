// --dump-to: the module between passes, in files that are named as XLA's dumps are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "passes/manager.h"
#include "re2/re2.h"

namespace hlokit {

// `module_0000.NAME.` of the module of this number.
std::string DumpStem(const Module& module, int64_t number);

// FOLDER/module_0000.NAME.NNNN.PIPELINE.after_PASS.before_NEXT.txt: before the first pass (after
// pipeline-start), and after each that changed the module. `hlo-opt FOLDER` reads them.
class PassDump {
 public:
  struct Files {
    std::string folder;  // `-` is standard output
    std::string pipeline;
    std::string pass_re = "";  // only before and after passes whose names it matches; empty: all
  };
  PassDump(Files files, int64_t module_number)
      : files_(std::move(files)), pass_re_(files_.pass_re), module_number_(module_number) {}

  // Makes the folder.
  absl::Status Start() const;
  // `next` is about to run. Writes the module where it has changed since it was written last.
  void Before(absl::string_view next, const Module& module);
  // Hears of the pass that ran; what Before could not write is its error.
  absl::Status After(const PassRun& run);
  const absl::Status& status() const { return status_; }

 private:
  const Files files_;
  const RE2 pass_re_;
  const int64_t module_number_;
  std::string last_ = "pipeline-start";  // the pass that changed the module
  bool changed_ = true;
  int64_t number_ = 0;
  absl::Status status_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
