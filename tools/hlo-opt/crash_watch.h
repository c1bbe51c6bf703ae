// What is said, and kept, when a pass crashes.
#pragma once

#include <string>

#include "support/diagnostics.h"
#include "tools/hlo-opt/options.h"
#include "tools/hlo-opt/reproducer.h"

namespace hlokit {

// After Start, a crash (a bad address, a failed CHECK, an exception that nobody caught) ends the
// program with kExitInternal, after a message that names the signal, the pass and the module's
// file. Where a pass was at work, another hlo-opt, which gets the module from this one, runs the
// passes before it and writes a reproducer. Sanitizers keep their own handlers.
class CrashWatch {
 public:
  // `options` outlives the process's work; `spec` is the list of passes.
  static void Start(const OptOptions& options, const std::string& spec);
  // From now on the work is on this module, of which `source` is kept alive by the caller.
  static void AtModule(const SourceFile& source);
  static void AtPass(const PassMoment& moment);
  static void AfterPasses();
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
