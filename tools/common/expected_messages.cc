// Announced messages are taken in the order of the text; each message shown fits the first that is
// still open.
#include "tools/common/expected_messages.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hlokit {
namespace {

struct Announced {
  ShownMessage message;
  int64_t times = 1;  // that it has still to be shown
};

// The line that `@where` means from `line` on.
uint32_t LineOf(const std::string& where, uint32_t line) {
  if (where == "unknown") return 0;
  if (where == "above") return line - 1;
  if (where == "below") return line + 1;
  int64_t distance = 0;
  return absl::SimpleAtoi(where, &distance) ? static_cast<uint32_t>(line + distance) : line;
}

// Takes `kind@where times {{text}}` off the front of `rest`; nullopt where it is something else.
std::optional<Announced> TakeAnnounced(absl::string_view& rest, uint32_t line) {
  constexpr absl::string_view kKinds[] = {"error", "warning", "note", "remark"};
  Announced one;
  for (const absl::string_view kind : kKinds)
    if (absl::ConsumePrefix(&rest, kind)) one.message.kind = std::string(kind);
  const size_t open = rest.find("{{"), close = rest.find("}}");
  if (one.message.kind.empty() || open == rest.npos || close == rest.npos || close < open)
    return std::nullopt;
  absl::string_view head = absl::StripAsciiWhitespace(rest.substr(0, open));
  one.message.text = std::string(rest.substr(open + 2, close - open - 2));
  one.message.line = line;
  rest.remove_prefix(close + 2);
  if (absl::ConsumePrefix(&head, "@")) {
    const size_t end = std::min(head.find(' '), head.size());
    one.message.line = LineOf(std::string(head.substr(0, end)), line);
    head = absl::StripAsciiWhitespace(head.substr(end));
  }
  if (head.empty() || absl::SimpleAtoi(head, &one.times)) return one;
  return std::nullopt;
}

std::vector<Announced> AnnouncedIn(const SourceFile& source) {
  constexpr absl::string_view kBefore = "expected-";
  std::vector<Announced> all;
  uint32_t number = 0;
  for (absl::string_view line : absl::StrSplit(source.text(), '\n')) {
    ++number;
    for (size_t at = line.find(kBefore); at != line.npos; at = line.find(kBefore)) {
      line.remove_prefix(at + kBefore.size());
      if (auto one = TakeAnnounced(line, number)) all.push_back(*std::move(one));
    }
  }
  return all;
}

std::string Placed(const SourceFile& source, const ShownMessage& message) {
  return message.line == 0 ? source.name() : absl::StrCat(source.name(), ":", message.line);
}

}  // namespace

absl::Status CheckExpectedMessages(const SourceFile& source, absl::Span<const ShownMessage> shown) {
  std::vector<Announced> announced = AnnouncedIn(source);
  std::vector<std::string> faults;
  for (const ShownMessage& message : shown) {
    const auto fits = [&](const Announced& one) {
      return one.times > 0 && one.message.kind == message.kind &&
             one.message.line == message.line && absl::StrContains(message.text, one.message.text);
    };
    const auto found = std::find_if(announced.begin(), announced.end(), fits);
    if (found != announced.end()) {
      --found->times;
    } else {
      faults.push_back(
          absl::StrCat(Placed(source, message), ": unexpected ", message.kind, ": ", message.text));
    }
  }
  for (const Announced& one : announced)
    if (one.times > 0)
      faults.push_back(absl::StrCat(Placed(source, one.message), ": expected ", one.message.kind,
                                    " was not shown: ", one.message.text));
  if (faults.empty()) return absl::OkStatus();
  return absl::AbortedError(absl::StrJoin(faults, "\n"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
