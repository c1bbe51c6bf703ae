// --trace, --check-nans and --check-infs on several devices, whose programs cannot be cut up: the
// interpreter shows their values as it makes them.
#pragma once

#include "absl/status/status.h"
#include "backends/backend.h"
#include "tools/hlo-run/options.h"

namespace hlokit {

// Writes the values of `NAME.d3` (run k > 0 of an instruction in loops and calls: `NAME[k].d3`), or
// names the first instruction of any device that makes a NaN; `good` becomes false then. Errors:
// Unimplemented for other probes and platforms than the interpreter; those of the run.
absl::Status ObserveDevices(const RunOptions& options, const Module& module,
                            absl::Span<const DeviceArguments> arguments, bool& good);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
