// --dump-to: the module between passes, in files that are named as XLA's dumps are.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "passes/manager.h"

namespace hlokit {

// FOLDER/module_0000.NAME.NNNN.hlo-opt.after_PASS.before_NEXT.txt: before the first pass (after
// pipeline-start), and after each that changed the module. `hlo-opt FOLDER` reads them.
class PassDump {
 public:
  explicit PassDump(std::string folder) : folder_(std::move(folder)) {}

  // Makes the folder; `-` is standard output.
  absl::Status Start() const;
  // `next` is about to run. Writes the module where it has changed since it was written last.
  void Before(absl::string_view next, const Module& module);
  // Hears of the pass that ran; what Before could not write is its error.
  absl::Status After(const PassRun& run);
  const absl::Status& status() const { return status_; }

 private:
  const std::string folder_;
  std::string last_ = "pipeline-start";  // the pass that changed the module
  bool changed_ = true;
  int64_t number_ = 0;
  absl::Status status_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
