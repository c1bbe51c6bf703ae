// Reads PTX text (ISA 6.0 to 8.x) into a Module.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "ptxsim/module.h"
#include "support/diagnostics.h"

namespace hlokit::ptx {

// Collects up to Diagnostics::kMaxKept errors in `out`; after one, reading goes on at the next
// statement. Null where there was any. Checks syntax and declarations; what an instruction's
// modifiers and operands mean is checked when a function is decoded (decode.h).
std::unique_ptr<Module> ParseModule(std::shared_ptr<const SourceFile> source, Diagnostics& out);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
