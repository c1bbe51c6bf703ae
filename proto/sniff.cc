// Guesses what a file is from its first tokens or from how its fields nest.
//
// Binary messages carry no type. What tells them apart is where an instruction lies: field 2 of
// field 3 of a HloModuleProto has a name, an opcode and a shape. One message around it makes a
// HloProto (or an unoptimized snapshot, which has inputs beside it), two make a snapshot. Literals
// are known by a shape whose first field is an element type. Only first fields are followed, so a
// file of any size is told by a few bytes of its start. Text and JSON begin with a field's name,
// which most kinds have to themselves (kTopNames); names that several have are settled by a second
// one at the same depth.
#include "proto/sniff_internal.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "proto/wire_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Names that a text or JSON file of one of the messages may start with, and the kind that has them.
// Of a kind named twice the field tells it from those above.
constexpr std::pair<absl::string_view, MessageKind> kTopNames[] = {
    {"name", MessageKind::kModule},
    {"entry_computation_name", MessageKind::kModule},
    {"entry_computation_id", MessageKind::kModule},
    {"computations", MessageKind::kModule},
    {"host_program_shape", MessageKind::kModule},
    {"id", MessageKind::kModule},
    {"schedule", MessageKind::kModule},
    {"hlo_module", MessageKind::kHloProto},
    {"buffer_assignment", MessageKind::kHloProto},
    {"hlo", MessageKind::kSnapshot},
    {"execution_platform", MessageKind::kSnapshot},
    {"partitions", MessageKind::kUnoptimizedSnapshot},
    {"version", MessageKind::kUnoptimizedSnapshot},
    {"arguments", MessageKind::kIteration},
    {"result", MessageKind::kIteration},
    {"reference_result", MessageKind::kIteration},
    {"iterations", MessageKind::kLiterals},
    {"shape", MessageKind::kLiteral},
};

const MessageKind* KindOfName(absl::string_view name) {
  for (const auto& [known, kind] : kTopNames)
    if (known == name) return &kind;
  return nullptr;
}

// Passes over a text or JSON file and gives the names that stand at a depth.
class TopNames {
 public:
  TopNames(absl::string_view text, int depth) : text_(text), wanted_(depth) {}

  // The next name; false at the end, or where braces close more than they opened.
  bool Next(absl::string_view& name) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        const absl::string_view quoted = Quoted();
        if (depth_ == wanted_ && FollowedBy(":")) return name = quoted, true;
      } else if (absl::ascii_isalpha(static_cast<unsigned char>(c))) {
        const absl::string_view word = Word();
        if (depth_ == wanted_ && FollowedBy(":{<")) return name = word, true;
      } else {
        depth_ += (c == '{' || c == '<') - (c == '}' || c == '>');
        if (depth_ < 0) return false;
        ++at_;
      }
    }
    return false;
  }

 private:
  absl::string_view Quoted() {
    const size_t start = at_ + 1;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(start, at_ - 1 - start);
  }
  absl::string_view Word() {
    const size_t start = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return text_.substr(start, at_ - start);
  }
  bool FollowedBy(absl::string_view any) {
    const size_t next = text_.find_first_not_of(" \t\r\n", at_);
    return next != absl::string_view::npos && any.find(text_[next]) != absl::string_view::npos;
  }

  absl::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  int wanted_;
};

MessageKind KindOfText(absl::string_view text, int depth, bool want_literals) {
  TopNames names(text, depth);
  absl::string_view name;
  MessageKind kind = want_literals ? MessageKind::kLiteral : MessageKind::kModule;
  bool any = false;
  while (names.Next(name)) {
    const MessageKind* known = KindOfName(name);
    if (known == nullptr) continue;
    // A snapshot has arguments, too.
    const bool more = *known == MessageKind::kUnoptimizedSnapshot ||
                      (*known != MessageKind::kIteration && kind == MessageKind::kIteration);
    if (!any || more) kind = *known;
    any = true;
    if (kind != MessageKind::kHloProto && kind != MessageKind::kIteration) return kind;
  }
  return kind;
}

// A computation begins with its name and holds instructions, which have a name and an opcode.
bool IsModule(absl::string_view bytes) {
  const absl::string_view instruction = FirstContent(FirstContent(bytes, 3), 2);
  return HasField(instruction, 1, WireType::kBytes) && HasField(instruction, 2, WireType::kBytes) &&
         (HasField(instruction, 3, WireType::kBytes) ||
          HasField(instruction, 35, WireType::kVarint));
}

// A shape begins with its element type.
bool IsLiteral(absl::string_view bytes) {
  return HasField(FirstContent(bytes, 1), 2, WireType::kVarint);
}

MessageKind KindOfLiterals(absl::string_view bytes) {
  if (IsLiteral(bytes)) return MessageKind::kLiteral;
  const absl::string_view first = FirstContent(bytes, 1);
  if (IsLiteral(FirstContent(first, 2))) return MessageKind::kLiterals;
  const bool iteration = IsLiteral(FirstContent(bytes, 2)) || IsLiteral(FirstContent(bytes, 3));
  return iteration ? MessageKind::kIteration : MessageKind::kLiteral;
}

MessageKind KindOfBinary(absl::string_view bytes, bool want_literals) {
  if (IsModule(bytes)) return MessageKind::kModule;
  const absl::string_view first = FirstContent(bytes, 1);
  if (IsModule(first)) {
    const bool inputs =
        HasField(bytes, 2, WireType::kBytes) || HasField(bytes, 3, WireType::kVarint);
    return inputs ? MessageKind::kUnoptimizedSnapshot : MessageKind::kHloProto;
  }
  if (IsModule(FirstContent(first, 1))) return MessageKind::kSnapshot;
  return want_literals ? KindOfLiterals(bytes) : MessageKind::kModule;
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x09 || (byte >= 0x0e && byte < 0x20);
}

// True if fields of plausible numbers fill the bytes.
bool IsWire(absl::string_view bytes) {
  constexpr int kLargestNumber = 64;
  constexpr int kFirstOwnNumber = 536870000;
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd())
    if (!reader.Next(field) || (field.number > kLargestNumber && field.number < kFirstOwnNumber))
      return false;
  return true;
}

bool IsBinary(absl::string_view bytes) {
  const absl::string_view start = bytes.substr(0, 256);
  const bool controls = std::any_of(start.begin(), start.end(), IsControl);
  return controls && (bytes[0] == '\n' || bytes[0] == '\x12' || IsWire(bytes));
}

// The text without blanks and comment lines at its start.
absl::string_view Significant(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  while (absl::StartsWith(text, "#")) {
    text.remove_prefix(std::min(text.find('\n'), text.size()));
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return text;
}

bool IsJson(absl::string_view text) {
  if (!absl::StartsWith(text, "{")) return false;
  return absl::StartsWith(absl::StripLeadingAsciiWhitespace(text.substr(1)), "\"");
}

// `name: ..` or `name { name: ..`; HLO text has `name = ` inside its braces.
bool IsProtoText(absl::string_view text) {
  absl::string_view rest = text;
  for (int depth = 0; depth < 8; ++depth) {
    const size_t end = rest.find_first_of(" \t\r\n:{<=(");
    const absl::string_view name = rest.substr(0, end);
    if (end == absl::string_view::npos || (depth == 0 && KindOfName(name) == nullptr)) return false;
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(end));
    if (absl::StartsWith(rest, ":")) return true;
    if (rest.empty() || (rest[0] != '{' && rest[0] != '<')) return false;
    rest = absl::StripLeadingAsciiWhitespace(rest.substr(1));
    if (absl::StartsWith(rest, "}")) return true;
  }
  return true;
}

}  // namespace

MessageKind SniffKind(absl::string_view bytes, ProtoEncoding encoding, bool want_literals) {
  switch (encoding) {
    case ProtoEncoding::kBinary:
      return KindOfBinary(bytes, want_literals);
    case ProtoEncoding::kText:
      return KindOfText(bytes, /*depth=*/0, want_literals);
    case ProtoEncoding::kJson:
      return KindOfText(bytes, /*depth=*/1, want_literals);
  }
  return MessageKind::kModule;
}

std::optional<ProtoEncoding> SniffProto(absl::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  if (IsBinary(bytes)) return ProtoEncoding::kBinary;
  const absl::string_view text = Significant(bytes);
  if (IsJson(text)) return ProtoEncoding::kJson;
  if (IsProtoText(text)) return ProtoEncoding::kText;
  return std::nullopt;
}

absl::Status CheckNotPacked(absl::string_view bytes) {
  struct Packing {
    absl::string_view magic, name, advice;
  };
  constexpr Packing kPackings[] = {
      {"\x1f\x8b", "a gzip file", "unpack it with gunzip"},
      {"\x28\xb5\x2f\xfd", "a zstd file", "unpack it with zstd -d"},
      {absl::string_view("\xfd\x37\x7a\x58\x5a\x00", 6), "an xz file", "unpack it with unxz"},
      {"BZh", "a bzip2 file", "unpack it with bunzip2"},
      {"PK\x03\x04", "a zip file", "unpack it with unzip"},
      {absl::string_view("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f", 8), "a Riegeli file",
       "its records are not read; dump a plain .pb"}};
  for (const Packing& packing : kPackings)
    if (absl::StartsWith(bytes, packing.magic))
      return InvalidArgument("is ", packing.name, "; ", packing.advice);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
