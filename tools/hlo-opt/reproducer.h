// Files that show what a pass did wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "tools/hlo-opt/options.h"

namespace hlokit {

// A pass about to run.
struct PassMoment {
  std::string pass;          // empty: none
  int64_t steps_before = 0;  // as --bisect-limit counts them
};

// Writes the module to --reproducer or a temporary file, headed by the command that shows the fault
// with `flags`, by what happened, and by the command that found it. Returns words that say where it
// is, ` (see FILE)`, or why it could not be written.
std::string WriteReproducer(const Module& module, absl::string_view flags, absl::string_view what,
                            const OptOptions& options);

// The same of the module as it stands at `moment` of `spec`, which the passes before it make of
// `module` once more.
std::string WriteReproducerAt(Module& module, const std::string& spec, const PassMoment& moment,
                              absl::string_view what, const OptOptions& options);

// Where reproducers go.
std::string ReproducerPath(const OptOptions& options);

// The flags that decide what passes do to a module that has been read, as a shell takes them; fuel
// and limits are left out.
std::vector<std::string> PassFlags(const OptOptions& options);

// --verify-each=interp, and on what it evaluates, as a shell takes them.
std::string ValueFlags(const OptOptions& options);

// `options` without what prints, checks values or limits steps.
OptOptions QuietOptions(OptOptions options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
