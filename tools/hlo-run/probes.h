// The flags of hlo-run that look inside a program: --bisect, --check-nans, --trace, --isolate,
// --isolate-instructions.
#pragma once

#include "absl/status/status.h"
#include "client/client.h"
#include "tools/hlo-run/options.h"

namespace hlokit {

// True where a flag asks for more than a run of the whole.
bool WantsProbes(const RunOptions& options);

// Does what those flags ask, on one device. `reference` may be null: then the interpreter serves
// where two sides are compared. `good` becomes false where something wrong was found.
absl::Status RunProbes(const RunOptions& options, const Module& module,
                       absl::Span<const DeviceArguments> arguments, Client& platform,
                       Client* reference, bool& good);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
