// Severity, date, time, thread, FILE:LINE, bracket.
#include "support/log_prefix.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace hlokit {

size_t LogPrefixLength(absl::string_view text) {
  constexpr absl::string_view kSeverities = "IWEF";
  constexpr size_t kLongest = 256;
  if (text.size() < 8 || kSeverities.find(text[0]) == absl::string_view::npos) return 0;
  const auto* const date_end = std::find_if_not(text.begin() + 1, text.end(), absl::ascii_isdigit);
  const auto digits = date_end - text.begin() - 1;
  if (digits != 4 && digits != 8) return 0;
  const absl::string_view time = text.substr(1 + digits, 4);
  if (time.size() < 4 || time[0] != ' ' || !absl::ascii_isdigit(time[1]) ||
      !absl::ascii_isdigit(time[2]) || time[3] != ':')
    return 0;
  absl::string_view line = text.substr(0, kLongest);
  line = line.substr(0, line.find_first_of("\r\n"));
  const size_t close = std::min(line.find("] "), line.size() - 1);
  if (line[close] != ']' || !absl::ascii_isdigit(line[close - 1])) return 0;
  return std::min(close + 2, line.size());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
