// Small text helpers: near matches for "did you mean", shortest floats, quoting.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

// A fast hash for tables that live as long as a run: sixteen bytes a step, the same on every
// machine of one byte order.
inline uint64_t HashText(absl::string_view text) {
  const auto load = [](const char* at) {
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    return word;
  };
  const auto load_half = [](const char* at) {
    uint32_t word;
    std::memcpy(&word, at, sizeof(word));
    return uint64_t{word};
  };
  const auto mix = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  constexpr uint64_t kFirst = 0x9E3779B97F4A7C15u, kSecond = 0xD6E8FEB86659FD93u;
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = (left + 1) * kFirst;
  for (; left > 16; at += 16, left -= 16) hash = mix(load(at) ^ kFirst, load(at + 8) ^ hash);
  uint64_t head = 0, tail = 0;  // what is left; they overlap
  if (left >= 8) {
    head = load(at);
    tail = load(at + left - 8);
  } else if (left >= 4) {
    head = load_half(at);
    tail = load_half(at + left - 4);
  } else if (left > 0) {
    head = static_cast<unsigned char>(at[0]) | static_cast<unsigned char>(at[left / 2]) << 8 |
           static_cast<unsigned char>(at[left - 1]) << 16;
  }
  return mix(head ^ kSecond, tail ^ hash);
}

// Insertions, deletions, changes and swaps of neighbours that turn `a` into `b`; any value above
// `limit` is limit + 1.
int EditDistance(absl::string_view a, absl::string_view b, int limit);

// Finds among many names the one that a misspelt word was meant to be: the nearest by EditDistance,
// or one that the word goes on from or starts (`dot.3` for `dot.3_gone`). Of equal ones the first
// in alphabetical order, whatever the order in which they are offered.
class NearestName {
 public:
  explicit NearestName(absl::string_view word);
  void Offer(absl::string_view candidate);
  // Empty where none is near enough to be a misspelling.
  absl::string_view name() const { return name_; }
  // " (did you mean NAME?)", or nothing: made to end an error message about an unknown name.
  std::string Hint() const;

 private:
  void Take(absl::string_view candidate, int distance);

  absl::string_view word_, name_;
  uint64_t letters_ = 0;
  int best_ = 0;   // the distance of name_, or one above what counts as near
  int tries_ = 0;  // names compared letter by letter
};

// The candidate nearest to `word`, or empty.
absl::string_view NearestMatch(absl::string_view word,
                               absl::Span<const absl::string_view> candidates);

// NearestName::Hint among the candidates.
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
