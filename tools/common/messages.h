// How errors and warnings about texts reach the user: plain, in colours, or as JSON.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "support/diagnostics.h"
#include "tools/common/expected_messages.h"

namespace hlokit {

enum class MessageFormat {
  kText,  // FILE:LINE:COL: error: ..., the line and a caret
  kJson,  // an object a line: severity, file, line, column, length, label, message, notes
};
enum class UseColours {
  kAuto,  // where standard error is a terminal, NO_COLOR is not set and TERM is not dumb
  kAlways,
  kNever,
};

// What ShowMessages and ShowStatus do from now on; flags set it (ParseFlags).
void SetMessages(MessageFormat format, UseColours colours);
// Whether what goes to standard error has colours.
bool ErrorsHaveColours();

// Keeps messages of texts and faults from now on instead of writing them; null: writes them again.
void KeepMessages(std::vector<ShownMessage>* kept);

// Everything that was collected, to standard error.
void ShowMessages(const Diagnostics& diagnostics, const SourceFile& file);
// The same for one status that is not OK.
void ShowStatus(const absl::Status& status, const SourceFile& file);
// What has no place in a text: `TOOL: KIND: message  [label]`.
void ShowFault(absl::string_view tool, absl::string_view kind, const absl::Status& status);

// What they write. Lines of `text` as Diagnostics::Render makes them, with the colours of
// compilers.
std::string InColours(absl::string_view text);
std::string AsJson(const Diagnostics& diagnostics, const SourceFile& file);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
