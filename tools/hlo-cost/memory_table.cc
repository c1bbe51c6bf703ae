// Memory over time, and what holds it at the peak.
//
// The instructions in their order are cut into at most kSteps steps of equal length. Of each step
// the one with the most live bytes is shown, with a bar beside the peak's:
//          512  ###########                     %dot.1  model.py:12
//        1,400  ##############################  %add.7  model.py:31
// The arrays of the peak are then summed by opcode, source line and scope of what made them.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/source_line.h"
#include "tools/hlo-cost/tables.h"

namespace hlokit {
namespace {

constexpr size_t kSteps = 40, kBarLetters = 30;

std::string WithSource(const Instruction& i) {
  const std::string line = SourceLine(i);
  return absl::StrCat("%", i.name(), line.empty() ? "" : "  ", line);
}

void AppendSteps(const PeakMemory& peak, std::string& text) {
  const std::vector<PeakArray>& all = peak.over_time;
  const size_t length = std::max<size_t>(1, (all.size() + kSteps - 1) / kSteps);
  absl::StrAppend(&text, "\ntemporaries while ", all.size(), " instructions run, ",
                  length == 1 ? "each:\n" : absl::StrCat("the most of each ", length, ":\n"));
  const auto largest = std::max<int64_t>(1, peak.temporaries);
  for (size_t begin = 0; begin < all.size(); begin += length) {
    const auto end = all.begin() + static_cast<int64_t>(std::min(all.size(), begin + length));
    const auto most =
        std::max_element(all.begin() + static_cast<int64_t>(begin), end,
                         [](const PeakArray& a, const PeakArray& b) { return a.bytes < b.bytes; });
    const auto letters = static_cast<size_t>(static_cast<double>(most->bytes) /
                                             static_cast<double>(largest) * kBarLetters);
    absl::StrAppendFormat(&text, "%14d  %-30s  %s\n", most->bytes,
                          std::string(std::min(letters, kBarLetters), '#'),
                          WithSource(*most->maker));
  }
}

// Sums of the arrays of the peak, the largest first.
template <typename Key>
void AppendGroups(const PeakMemory& peak, int64_t top, absl::string_view title, const Key& key,
                  std::string& text) {
  std::map<std::string, int64_t> sums;
  for (const PeakArray& array : peak.at_peak) {
    const std::string group = key(*array.maker);
    sums[group.empty() ? "(none)" : group] += array.bytes;
  }
  std::vector<std::pair<int64_t, std::string>> rows;
  for (const auto& [group, bytes] : sums) rows.emplace_back(bytes, group);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  const size_t shown =
      top > 0 ? std::min<size_t>(static_cast<size_t>(top), rows.size()) : rows.size();
  absl::StrAppend(&text, "\nat the peak, by ", title, ":\n");
  for (size_t k = 0; k < shown; ++k)
    absl::StrAppendFormat(&text, "%14d %5.1f %%  %s\n", rows[k].first,
                          100 * static_cast<double>(rows[k].first) /
                              static_cast<double>(std::max<int64_t>(1, peak.temporaries)),
                          rows[k].second);
  if (shown < rows.size()) absl::StrAppend(&text, "... and ", rows.size() - shown, " more\n");
}

}  // namespace

std::string MemoryText(const PeakMemory& peak, const TableOptions& options) {
  std::string text;
  AppendSteps(peak, text);
  AppendGroups(
      peak, options.top, "opcode",
      [](const Instruction& i) { return std::string(Text(i.opcode())); }, text);
  AppendGroups(peak, options.top, "source line", SourceLine, text);
  AppendGroups(peak, options.top, "scope", OuterScope, text);
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
