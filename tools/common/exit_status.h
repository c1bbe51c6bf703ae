// How a tool ends: its exit status and its last message.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "support/diagnostics.h"

namespace hlokit {

inline constexpr int kExitDone = 0;
inline constexpr int kExitCheckFailed = 1;  // a comparison or check came out negative
// bad flags or bad input: files, text, modules, what a platform lacks
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInternal = 3;  // a fault of ours

// kExitDone for OK; kExitCheckFailed for Aborted; kExitInternal for Internal, Unknown and DataLoss;
// kExitUsage for everything else.
int ExitStatusOf(const absl::Status& status);

// kExitDone for OK; else prints the error to standard error and returns its exit status. Located as
// FILE:LINE:COL with a caret where the status carries a place and `file` is given, else as `TOOL:
// error: message`.
int ReportError(absl::string_view tool, const absl::Status& status,
                const SourceFile* file = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
