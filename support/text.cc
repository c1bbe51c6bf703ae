// Edit distance with a limit, to_chars and absl's escapes.
#include "support/text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "support/limits.h"
#include "support/status.h"

namespace hlokit {
namespace {

template <typename Float>
std::string Shortest(Float value) {
  char buffer[64];
  std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

// A bit for each letter that occurs.
uint64_t LettersOf(absl::string_view text) {
  uint64_t letters = 0;
  for (const unsigned char c : text) letters |= uint64_t{1} << (c & 63);
  return letters;
}

// `whole` is `start` and more, which a name would not just count on: dot.3_gone, but not dot.31.
bool StartsWithWord(absl::string_view whole, absl::string_view start) {
  return start.size() >= 3 && whole.size() > start.size() && absl::StartsWith(whole, start) &&
         !absl::ascii_isalnum(whole[start.size()]);
}

}  // namespace

int EditDistance(absl::string_view a, absl::string_view b, int limit) {
  int difference = static_cast<int>(a.size()) - static_cast<int>(b.size());
  if (std::abs(difference) > limit) return limit + 1;
  size_t width = b.size() + 1;
  absl::InlinedVector<int, kMaxSuggestionLength + 1> two_up(width), up(width), row(width);
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

NearestName::NearestName(absl::string_view word)
    : word_(word),
      letters_(LettersOf(word)),
      best_(std::max(1, static_cast<int>(std::min<size_t>(word.size(), 60)) / 3) + 1) {}

void NearestName::Offer(absl::string_view candidate) {
  if (word_.empty() || word_.size() > kMaxSuggestionLength ||
      candidate.size() > kMaxSuggestionLength)
    return;
  // A name cut short or lengthened at a boundary is as near as a changed letter or two.
  constexpr int kPrefixDistance = 2;
  if (StartsWithWord(word_, candidate) || StartsWithWord(candidate, word_))
    return Take(candidate, kPrefixDistance);
  const int difference = std::abs(static_cast<int>(word_.size() - candidate.size()));
  // An edit adds a letter, takes one away, or both.
  const int letters = __builtin_popcountll(letters_ ^ LettersOf(candidate));
  if (difference > best_ || letters > 2 * best_ || ++tries_ > kMaxSuggestionTries) return;
  Take(candidate, EditDistance(word_, candidate, best_));
}

void NearestName::Take(absl::string_view candidate, int distance) {
  if (distance >= static_cast<int>(std::max(word_.size(), candidate.size()))) return;  // all new
  const bool better =
      distance < best_ || (distance == best_ && !name_.empty() && candidate < name_);
  if (!better) return;
  best_ = distance;
  name_ = candidate;
}

std::string NearestName::Hint() const {
  return name_.empty() ? std::string() : absl::StrCat(" (did you mean ", name_, "?)");
}

absl::string_view NearestMatch(absl::string_view word,
                               absl::Span<const absl::string_view> candidates) {
  NearestName nearest(word);
  for (absl::string_view candidate : candidates) nearest.Offer(candidate);
  return nearest.name();
}

std::string DidYouMean(absl::string_view word, absl::Span<const absl::string_view> candidates) {
  NearestName nearest(word);
  for (absl::string_view candidate : candidates) nearest.Offer(candidate);
  return nearest.Hint();
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
