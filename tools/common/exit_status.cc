// Exit statuses and last messages.
#include "tools/common/exit_status.h"

#include <cstdio>

#include "absl/strings/str_cat.h"

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
  std::string text;
  if (file != nullptr && PlaceOf(status).valid()) {
    text = RenderStatus(status, *file);
  } else {
    const std::string label = LabelOf(status);
    const bool internal = ExitStatusOf(status) == kExitInternal;
    text = absl::StrCat(tool, internal ? ": internal error: " : ": error: ", status.message(),
                        label.empty() ? "" : absl::StrCat("  [", label, "]"), "\n");
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
  return ExitStatusOf(status);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
