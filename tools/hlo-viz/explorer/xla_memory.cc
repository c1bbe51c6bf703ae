// Lines such as ` value: <70 dot @0> (size=160,offset=0): f32[5,8]{1,0}`.
#include "tools/hlo-viz/explorer/xla_memory.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxTime = int64_t{1} << 31;

// The number after `key`; false where there is none or it is negative.
bool NumberAfter(absl::string_view text, absl::string_view key, int64_t& number) {
  const size_t at = text.find(key);
  if (at == absl::string_view::npos) return false;
  absl::string_view digits = text.substr(at + key.size());
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  return absl::SimpleAtoi(digits, &number);
}

// `allocation 1: size 160, parameter 1, shape |f32[5,8]| at ShapeIndex {}:`
bool ReadAllocation(absl::string_view line, XlaAllocation& allocation) {
  if (!absl::StartsWith(line, "allocation ") || !NumberAfter(line, "size ", allocation.size))
    return false;
  line.remove_prefix(line.find("size "));
  const size_t comma = line.find(", ");
  if (comma != absl::string_view::npos)
    allocation.purpose = std::string(absl::StripSuffix(line.substr(comma + 2), ":"));
  allocation.thread_local_memory = absl::StrContains(allocation.purpose, "thread-local");
  return true;
}

// `while{1,0}` -> `while` and `1,0`; a plain array has no index.
void SplitIndex(absl::string_view name, std::string& instruction, std::string& index) {
  const size_t brace = absl::EndsWith(name, "}") ? name.rfind('{') : absl::string_view::npos;
  instruction = std::string(name.substr(0, brace));
  if (brace != absl::string_view::npos)
    index = std::string(name.substr(brace + 1, name.size() - brace - 2));
}

bool ReadBuffer(absl::string_view line, XlaBuffer& buffer) {
  if (!absl::ConsumePrefix(&line, "value: <")) return false;
  const size_t blank = line.find(' '), end = line.find(" @", blank == line.npos ? 0 : blank);
  if (blank == line.npos || end == line.npos) return false;
  SplitIndex(line.substr(blank + 1, end - blank - 1), buffer.instruction, buffer.index);
  return NumberAfter(line.substr(end), "size=", buffer.size) &&
         NumberAfter(line.substr(end), "offset=", buffer.offset);
}

// `dot{}:15-16`
void ReadRange(absl::string_view line, XlaLiveRanges& live) {
  const size_t colon = line.rfind(':'), dash = line.rfind('-');
  int64_t begin = 0, end = 0;
  if (colon == line.npos || dash == line.npos || dash < colon ||
      !absl::SimpleAtoi(line.substr(colon + 1, dash - colon - 1), &begin) ||
      !absl::SimpleAtoi(line.substr(dash + 1), &end) || begin < 0 || end < begin || end > kMaxTime)
    return;
  live.ranges[std::string(line.substr(0, colon))] = {begin, end};
  live.end = std::max(live.end, end);
}

}  // namespace

XlaAssignment ReadXlaAssignment(absl::string_view text) {
  XlaAssignment result;
  for (absl::string_view raw : absl::StrSplit(text, '\n')) {
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    XlaAllocation allocation;
    XlaBuffer buffer;
    if (ReadAllocation(line, allocation)) {
      result.allocations.push_back(std::move(allocation));
    } else if (!result.allocations.empty() && ReadBuffer(line, buffer)) {
      buffer.allocation = static_cast<int>(result.allocations.size()) - 1;
      result.buffers.push_back(std::move(buffer));
    }
  }
  return result;
}

XlaLiveRanges ReadXlaLiveRanges(absl::string_view text) {
  XlaLiveRanges result;
  absl::string_view section;
  for (absl::string_view raw : absl::StrSplit(text, '\n')) {
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    const size_t indent = raw.find_first_not_of(' ');
    if (indent == 2) {  // InstructionSequence:, BufferLiveRange:, Live ranges at 13 (peak):
      section = line;
    } else if (section == "InstructionSequence:") {
      if (const size_t colon = line.find(':'); colon != line.npos)
        result.sequence.emplace_back(line.substr(colon + 1));
    } else if (section == "BufferLiveRange:") {
      ReadRange(line, result);
    }
  }
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
