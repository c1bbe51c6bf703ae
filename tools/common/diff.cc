// Myers' greedy difference of two lists of lines.
#include "tools/common/diff.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hlokit {
namespace {

// Texts more edits apart than this are shown as one replaced by the other.
constexpr int kMostEdits = 4000;

using Lines = std::vector<absl::string_view>;

struct Edit {
  char kind;  // ' ', '-' or '+'
  absl::string_view line;
};

Lines LinesOf(absl::string_view text) {
  Lines lines = absl::StrSplit(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Furthest x on each diagonal (x - y, offset by the number of edits) after 0, 1, 2, ... edits; the
// last round reaches the end. Empty where that takes too many.
std::vector<std::vector<int>> Rounds(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  std::vector<std::vector<int>> rounds;
  for (int edits = 0; edits <= std::min(n + m, kMostEdits); ++edits) {
    std::vector<int> reach(2 * edits + 1, -1);
    for (int k = -edits; k <= edits; k += 2) {
      int x = 0;
      if (edits > 0) {
        const std::vector<int>& last = rounds.back();
        const int down = k < edits ? last[k + 1 + edits - 1] : -1;        // a line of b is put in
        const int right = k > -edits ? last[k - 1 + edits - 1] + 1 : -1;  // a line of a is dropped
        x = std::max(down, right);
      }
      while (x < n && x - k < m && x - k >= 0 && a[x] == b[x - k]) ++x;
      reach[k + edits] = x;
      if (x >= n && x - k >= m) {
        rounds.push_back(std::move(reach));
        return rounds;
      }
    }
    // Diagonals of the other parity stay as unreached as they were.
    rounds.push_back(std::move(reach));
  }
  return {};
}

std::vector<Edit> Replace(const Lines& a, const Lines& b) {
  std::vector<Edit> edits;
  for (absl::string_view line : a) edits.push_back({'-', line});
  for (absl::string_view line : b) edits.push_back({'+', line});
  return edits;
}

std::vector<Edit> Edits(const Lines& a, const Lines& b) {
  const std::vector<std::vector<int>> rounds = Rounds(a, b);
  if (rounds.empty()) return Replace(a, b);
  std::vector<Edit> reversed;
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  for (int edits = static_cast<int>(rounds.size()) - 1; edits >= 0; --edits) {
    const int k = x - y;
    int from_x = 0, from_k = 0;
    bool down = false;
    if (edits > 0) {
      const std::vector<int>& last = rounds[edits - 1];
      const int below = k < edits - 1 + 1 && k + 1 <= edits - 1 ? last[k + 1 + edits - 1] : -1;
      const int left = k - 1 >= -(edits - 1) ? last[k - 1 + edits - 1] + 1 : -1;
      down = below >= left;
      from_k = down ? k + 1 : k - 1;
      from_x = down ? below : left - 1;
    }
    const int start = edits > 0 ? (down ? from_x : from_x + 1) : 0;
    while (x > start) {
      --x;
      --y;
      reversed.push_back({' ', a[x]});
    }
    if (edits == 0) break;
    if (down) {
      reversed.push_back({'+', b[y - 1]});
    } else {
      reversed.push_back({'-', a[x - 1]});
    }
    x = from_x;
    y = from_x - from_k;
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

}  // namespace

std::string LineDiff(absl::string_view before, absl::string_view after, int context) {
  if (before == after) return "";
  const std::vector<Edit> edits = Edits(LinesOf(before), LinesOf(after));
  const int count = static_cast<int>(edits.size());
  std::string out;
  int line_a = 1, line_b = 1, at = 0;
  while (at < count) {
    int first = at;
    while (first < count && edits[first].kind == ' ') ++first;
    if (first == count) break;
    const int start = std::max(at, first - context);
    line_a += start - at;
    line_b += start - at;
    int end = first, equal = 0;  // a hunk ends where more than two contexts of equal lines follow
    while (end < count && equal <= 2 * context) equal = edits[end++].kind == ' ' ? equal + 1 : 0;
    end -= std::max(0, equal - context);
    int size_a = 0, size_b = 0;
    for (int i = start; i < end; ++i) {
      size_a += edits[i].kind != '+';
      size_b += edits[i].kind != '-';
    }
    absl::StrAppend(&out, "@@ -", line_a, ",", size_a, " +", line_b, ",", size_b, " @@\n");
    for (int i = start; i < end; ++i) {
      out += edits[i].kind;
      absl::StrAppend(&out, edits[i].line, "\n");
    }
    line_a += size_a;
    line_b += size_b;
    at = end;
  }
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
