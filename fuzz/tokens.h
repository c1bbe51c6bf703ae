// HLO text as tokens, for those who damage it, and what comparisons of printed text leave out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace hlokit {

using Tokens = std::vector<std::string>;

// Words, quoted texts, runs of blanks and single signs; joined they are the text again.
Tokens SplitTokens(absl::string_view text);
std::string JoinTokens(const Tokens& tokens);

// The whole line around token `at`, its newline included, as [first, last).
std::pair<size_t, size_t> LineAround(const Tokens& tokens, size_t at);

// Sorted, for comparisons of a printed module with what it reads back as: computations stand in the
// order of their callers' texts, which may change the first time. Without the sign of zeros: XLA
// prints -0, which it reads as the integer 0, and so do we.
std::vector<std::string> SortedLines(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
