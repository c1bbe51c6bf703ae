// --xla_dump_to: what XLA's hlo-opt writes to its folder of dumps.
#pragma once

#include "absl/status/status.h"
#include "ir/module.h"
#include "tools/hlo-opt/options.h"

namespace hlokit {

// FOLDER/module_0000.NAME.before_optimization.txt, .after_optimization.txt and .debug_options (the
// fields of DebugOptions that flags set, in protobuf's text). Constants of more than 10 elements
// are elided unless --xla_dump_large_constants is given, as in XLA. Modules between passes are
// PassDump's.
class XlaDump {
 public:
  explicit XlaDump(const OptOptions& options) : options_(options) {}

  absl::Status Before(const Module& module) const;
  absl::Status After(const Module& module) const;

 private:
  absl::Status WriteText(const Module& module, absl::string_view ending) const;

  const OptOptions& options_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
