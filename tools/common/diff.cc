// The difference of two texts by lines: E. W. Myers, "An O(ND) Difference Algorithm and Its
// Variations" (1986), in time and memory of the square of the number of edits. Texts more than
// kMaxEdits edits apart are first matched at lines that stand once in each (as "patience"
// differences do), then piece by piece.
//   a b c  ->  a x c:   " a", "-b", "+x", " c"
#include "tools/common/diff.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"

namespace hlokit {
namespace {

// Of texts more edits apart than this, lines that both have once are matched first; what lies
// between two such lines and is as far apart is shown as one replaced by the other.
constexpr int kMaxEdits = 1000;
constexpr size_t kLongestContext = 60;  // characters of the line that a hunk lies below

using Lines = absl::Span<const absl::string_view>;

struct Edit {
  char kind;  // ' ', '-' or '+'
  absl::string_view line;
};

std::vector<absl::string_view> LinesOf(absl::string_view text) {
  std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Furthest x on each diagonal (x - y, offset by the number of edits) after 0, 1, 2, ... edits; the
// last round reaches the end. Empty where that takes too many.
std::vector<std::vector<int>> Rounds(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  std::vector<std::vector<int>> rounds;
  for (int edits = 0; edits <= std::min(n + m, kMaxEdits); ++edits) {
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

void AppendReplaced(Lines a, Lines b, std::vector<Edit>& edits) {
  for (absl::string_view line : a) edits.push_back({'-', line});
  for (absl::string_view line : b) edits.push_back({'+', line});
}

void AppendEqual(Lines a, std::vector<Edit>& edits) {
  for (absl::string_view line : a) edits.push_back({' ', line});
}

// The edits that lead to the end of the last round.
std::vector<Edit> Retrace(const Lines& a, const Lines& b,
                          const std::vector<std::vector<int>>& rounds) {
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

// Pairs of equal lines, in order in both, of those that stand once in each.
std::vector<std::pair<size_t, size_t>> Anchors(const Lines& a, const Lines& b) {
  struct Places {
    int in_a = 0, in_b = 0;
    size_t at_b = 0;
  };
  absl::flat_hash_map<absl::string_view, Places> places;
  for (absl::string_view line : a) ++places[line].in_a;
  for (size_t y = 0; y < b.size(); ++y) {
    Places& place = places[b[y]];
    ++place.in_b;
    place.at_b = y;
  }
  // The longest rising row of places in b: `ends[n]` is the pair that ends the best row of n + 1.
  std::vector<std::pair<size_t, size_t>> pairs;
  std::vector<size_t> ends, before;
  for (size_t x = 0; x < a.size(); ++x) {
    const Places& place = places[a[x]];
    if (place.in_a != 1 || place.in_b != 1) continue;
    const auto at = std::lower_bound(ends.begin(), ends.end(), place.at_b,
                                     [&](size_t pair, size_t y) { return pairs[pair].second < y; });
    before.push_back(at == ends.begin() ? SIZE_MAX : *(at - 1));
    pairs.emplace_back(x, place.at_b);
    if (at == ends.end()) {
      ends.push_back(pairs.size() - 1);
    } else {
      *at = pairs.size() - 1;
    }
  }
  std::vector<std::pair<size_t, size_t>> row;
  for (size_t k = ends.empty() ? SIZE_MAX : ends.back(); k != SIZE_MAX; k = before[k])
    row.push_back(pairs[k]);
  std::reverse(row.begin(), row.end());
  return row;
}

// `split`: whether lists far apart are taken apart at anchors.
void AppendEdits(Lines a, Lines b, bool split, std::vector<Edit>& edits) {
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  AppendEqual(a.first(head), edits);
  a.remove_prefix(head);
  b.remove_prefix(head);
  size_t tail = 0;
  while (tail < a.size() && tail < b.size() && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const Lines end = a.last(tail);
  a.remove_suffix(tail);
  b.remove_suffix(tail);
  if (a.empty() || b.empty()) {
    AppendReplaced(a, b, edits);
  } else if (const auto rounds = Rounds(a, b); !rounds.empty()) {
    const std::vector<Edit> found = Retrace(a, b, rounds);
    edits.insert(edits.end(), found.begin(), found.end());
  } else if (split) {
    size_t x = 0, y = 0;
    for (const auto& [at_a, at_b] : Anchors(a, b)) {
      AppendEdits(a.subspan(x, at_a - x), b.subspan(y, at_b - y), false, edits);
      edits.push_back({' ', a[at_a]});
      x = at_a + 1;
      y = at_b + 1;
    }
    AppendEdits(a.subspan(x), b.subspan(y), false, edits);
  } else {
    AppendReplaced(a, b, edits);
  }
  AppendEqual(end, edits);
}

// Whether the line begins a block, such as a computation.
bool BeginsBlock(const Edit& edit) {
  return edit.kind != '+' && absl::EndsWith(edit.line, "{") && !absl::StartsWith(edit.line, " ");
}

// What stands behind a hunk's numbers: the block that it lies in, cut short.
std::string Context(absl::string_view block) {
  if (block.empty()) return "";
  return absl::StrCat(" ", block.substr(0, kLongestContext),
                      block.size() > kLongestContext ? "..." : "");
}

}  // namespace

std::string LineDiff(absl::string_view before, absl::string_view after, int context) {
  if (before == after) return "";
  std::vector<Edit> edits;
  AppendEdits(LinesOf(before), LinesOf(after), /*split=*/true, edits);
  const int count = static_cast<int>(edits.size());
  std::string out;
  absl::string_view block;  // the last that begins before `read`
  int line_a = 1, line_b = 1, at = 0, read = 0;
  while (at < count) {
    int first = at;
    while (first < count && edits[first].kind == ' ') ++first;
    if (first == count) break;
    const int start = std::max(at, first - context);
    for (; read < start; ++read)
      if (BeginsBlock(edits[read])) block = edits[read].line;
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
    absl::StrAppend(&out, "@@ -", line_a, ",", size_a, " +", line_b, ",", size_b, " @@",
                    Context(block), "\n");
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

std::string DiffInColours(absl::string_view diff) {
  constexpr absl::string_view kPlain = "\033[0m";
  std::string out;
  for (absl::string_view line : LinesOf(diff)) {
    const absl::string_view colour = absl::StartsWith(line, "-")    ? "\033[31m"
                                     : absl::StartsWith(line, "+")  ? "\033[32m"
                                     : absl::StartsWith(line, "@@") ? "\033[36m"
                                                                    : "";
    absl::StrAppend(&out, colour, line, colour.empty() ? "" : kPlain, "\n");
  }
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
