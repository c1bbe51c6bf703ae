// Status annotation and the end of a failed CHECK.
#include "support/status.h"

#include <cstdio>

#include "absl/strings/cord.h"

namespace hlokit {

absl::Status Annotate(const absl::Status& status, absl::string_view prefix) {
  if (status.ok()) return status;
  absl::Status annotated(status.code(), absl::StrCat(prefix, ": ", status.message()));
  status.ForEachPayload(
      [&](absl::string_view key, const absl::Cord& value) { annotated.SetPayload(key, value); });
  return annotated;
}

CheckFailure::CheckFailure(const char* file, int line, absl::string_view what)
    : message_(absl::StrCat(file, ":", line, ": ", what)) {}

CheckFailure::~CheckFailure() {
  std::fprintf(stderr, "%s\n", message_.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
