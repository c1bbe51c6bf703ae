// Messages that a text announces in its comments, as MLIR's tools check them
// (--verify-diagnostics).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "support/diagnostics.h"

namespace hlokit {

struct ShownMessage {
  std::string kind;   // error, warning or note
  uint32_t line = 0;  // 1-based; 0: no place in the text
  std::string text;
};

// Holds `shown` against the comments of `source`:
//
//     // expected-error@+1 {{a part of the message}}
//
// The kind may be error, warning, note or remark. `@+N`, `@-N`, `@above` and `@below` move the line
// from the comment's own, `@unknown` is for messages without a place, and a number before the
// braces says how often.
// Errors: Aborted, with a line for each message that is missing and each that is not announced.
absl::Status CheckExpectedMessages(const SourceFile& source, absl::Span<const ShownMessage> shown);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
