// Files that show what a pass did wrong.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "tools/hlo-opt/options.h"

namespace hlokit {

// Writes the module, headed by the command that shows the fault with `flags`, to --reproducer or a
// temporary file. Returns words that say where it is, ` (see FILE)`, or why it could not be
// written.
std::string WriteReproducer(const Module& module, absl::string_view flags,
                            const OptOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
