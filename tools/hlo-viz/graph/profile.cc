// Reading profiles: Chrome's trace events, or lines of name,seconds.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/hlo-viz/graph/describe.h"
#include "tools/hlo-viz/graph/overlay.h"

namespace hlokit {
namespace {

// The text after `"key":` in one event, blanks skipped; empty where it has none.
absl::string_view After(absl::string_view event, absl::string_view quoted_key) {
  const size_t at = event.find(quoted_key);
  if (at == absl::string_view::npos) return "";
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(event.substr(at + quoted_key.size()));
  if (!absl::ConsumePrefix(&rest, ":")) return "";
  return absl::StripLeadingAsciiWhitespace(rest);
}

void ReadEvent(absl::string_view event, TimeByName& times) {
  absl::string_view name = After(event, "\"name\"");
  const absl::string_view duration = After(event, "\"dur\"");
  double microseconds = 0;
  if (!absl::ConsumePrefix(&name, "\"") ||
      !absl::SimpleAtod(duration.substr(0, duration.find_first_of(",} \n")), &microseconds))
    return;
  name = absl::StripPrefix(name.substr(0, name.find('"')), "%");
  times[std::string(name)] += microseconds * 1e-6;
}

// Objects of the array traceEvents, told by the braces that open at its depth.
void ReadTrace(absl::string_view text, TimeByName& times) {
  const size_t events = text.find("\"traceEvents\"");
  if (events == absl::string_view::npos) return;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t k = events + 13; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '\\' && quoted) {
      ++k;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '{' && depth++ == 0) {
      start = k;
    } else if (!quoted && c == '}' && --depth == 0) {
      ReadEvent(text.substr(start, k - start + 1), times);
    }
  }
}

void ReadLines(absl::string_view text, TimeByName& times) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ',');
    double seconds = 0;
    if (parts.size() < 2 || !absl::SimpleAtod(parts[1], &seconds)) continue;  // a heading
    times[std::string(absl::StripPrefix(absl::StripAsciiWhitespace(parts[0]), "%"))] += seconds;
  }
}

}  // namespace

absl::StatusOr<TimeByName> ReadProfile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  TimeByName times;
  ReadTrace(text, times);
  if (times.empty()) ReadLines(text, times);
  if (times.empty())
    return InvalidArgument(path,
                           ": no times: neither trace events with a name and a dur nor lines of "
                           "name,seconds");
  return times;
}

std::string ProfileNote(const ModuleIndex& index, const TimeByName& times) {
  absl::flat_hash_set<absl::string_view> names;
  for (const Computation* computation : index.computations())
    for (const Instruction* i : computation->Instructions()) names.insert(i->name());
  double all = 0, missing = 0, most = 0;
  absl::string_view example;
  for (const auto& [name, seconds] : times) {
    all += seconds;
    if (names.contains(name)) continue;
    missing += seconds;
    if (seconds < most || (seconds == most && example <= name && !example.empty())) continue;
    most = seconds;
    example = name;
  }
  constexpr double kMaxMissing = 0.05;
  if (!(missing > kMaxMissing * all)) return "";
  return absl::StrCat(
      absl::StrFormat("%.0f", 100 * missing / all),
      " % of the profile's time is of instructions that this module lacks, such as ",
      Shown(example, 80), ": hlo-run --dump-to DIR writes the module that ran");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
