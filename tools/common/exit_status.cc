// Exit statuses and last messages.
#include "tools/common/exit_status.h"

#include "tools/common/messages.h"

namespace hlokit {

int ExitStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitDone;
    case absl::StatusCode::kAborted:
      return kExitCheckFailed;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return kExitInternal;
    default:
      return kExitUsage;
  }
}

int ReportError(absl::string_view tool, const absl::Status& status, const SourceFile* file) {
  if (status.ok()) return kExitDone;
  if (file != nullptr && PlaceOf(status).valid()) {
    ShowStatus(status, *file);
  } else {
    ShowFault(tool, ExitStatusOf(status) == kExitInternal ? "internal error" : "error", status);
  }
  return ExitStatusOf(status);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
