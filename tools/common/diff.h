// Differences of two texts, line by line.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace hlokit {

// In the form of `diff -u` without a header: `@@ -3,7 +3,8 @@` and the computation's first line,
// then lines after ` `, `-` or `+`, with `context` equal lines around each change. Empty for equal
// texts. The shortest difference, but for texts a thousand edits apart.
std::string LineDiff(absl::string_view before, absl::string_view after, int context = 3);

// The same in a terminal's colours: red, green, and cyan for the lines that begin with @@.
std::string DiffInColours(absl::string_view diff);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
