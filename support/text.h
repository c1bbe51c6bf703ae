// Small text helpers: near matches for "did you mean", shortest floats, quoting.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

// Insertions, deletions, changes and swaps of neighbours that turn `a` into `b`; any value above
// `limit` is limit + 1.
int EditDistance(absl::string_view a, absl::string_view b, int limit);

// The candidate nearest to `word`, or empty where none is near enough to be a misspelling of it.
absl::string_view NearestMatch(absl::string_view word,
                               absl::Span<const absl::string_view> candidates);

// " (did you mean NAME?)", or nothing: made to end an error message about an unknown name.
std::string DidYouMean(absl::string_view word, absl::Span<const absl::string_view> candidates);

// The shortest decimal text that reads back as the same value: 0.1, 1e-45, inf, -nan.
std::string ShortestText(float value);
std::string ShortestText(double value);

// "text" in double quotes with C escapes, and its inverse (InvalidArgument where a quote or an
// escape is broken).
std::string Quote(absl::string_view text);
absl::StatusOr<std::string> Unquote(absl::string_view quoted);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
