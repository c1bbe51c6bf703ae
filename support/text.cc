// Edit distance with a limit, to_chars and absl's escapes.
#include "support/text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {
namespace {

template <typename Float>
std::string Shortest(Float value) {
  char buffer[64];
  std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b, int limit) {
  int difference = static_cast<int>(a.size()) - static_cast<int>(b.size());
  if (std::abs(difference) > limit) return limit + 1;
  size_t width = b.size() + 1;
  std::vector<int> two_up(width), up(width), row(width);
  for (size_t j = 0; j < width; ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_up, up);
    std::swap(up, row);
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j < width; ++j) {
      int change = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, up[j] + 1, row[j - 1] + 1});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
    if (*std::min_element(row.begin(), row.end()) > limit) return limit + 1;
  }
  return std::min(row.back(), limit + 1);
}

absl::string_view NearestMatch(absl::string_view word,
                               absl::Span<const absl::string_view> candidates) {
  int best = std::max<int>(1, static_cast<int>(std::min<size_t>(word.size(), 60)) / 3) + 1;
  absl::string_view nearest;
  for (absl::string_view candidate : candidates) {
    int distance = EditDistance(word, candidate, best - 1);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
    if (best == 0) break;
  }
  return nearest;
}

std::string DidYouMean(absl::string_view word, absl::Span<const absl::string_view> candidates) {
  absl::string_view nearest = NearestMatch(word, candidates);
  return nearest.empty() ? std::string() : absl::StrCat(" (did you mean ", nearest, "?)");
}

std::string ShortestText(float value) { return Shortest(value); }
std::string ShortestText(double value) { return Shortest(value); }

std::string Quote(absl::string_view text) { return absl::StrCat("\"", absl::CEscape(text), "\""); }

absl::StatusOr<std::string> Unquote(absl::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') {
    return InvalidArgument("expected a string in double quotes");
  }
  std::string text, error;
  if (!absl::CUnescape(quoted.substr(1, quoted.size() - 2), &text, &error)) {
    return InvalidArgument("bad escape in string: ", error);
  }
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
