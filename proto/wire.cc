// The wire format of protobuf, read and written without message classes: varints (seven bits a
// byte, low bits first) and length-delimited fields, each after a tag of number and type. Source:
// protobuf.dev, "Encoding". All readers check bounds: damaged bytes give an error, never a read
// past the end. DescribeDamage finds the first byte that libprotobuf would refuse, and in which
// field.
#include "proto/wire_internal.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"

namespace hlokit {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Length of the valid UTF-8 sequence at the start of `text`, or 0.
size_t Utf8Length(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool no_character =
      (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return too_long || no_character ? 0 : length;
}

// The offset of the first byte that is not UTF-8, or npos.
size_t FindInvalidUtf8(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return absl::string_view::npos;
}

class DamageFinder {
 public:
  explicit DamageFinder(absl::string_view whole) : whole_(whole) {}

  // True if the damage is in these bytes; it is described then.
  bool Find(absl::string_view bytes, const Descriptor& type, const std::string& path, int depth) {
    if (depth > kDeepest) return Found(bytes, 0, path, "messages nest too deeply");
    WireReader reader(bytes);
    WireField field;
    std::map<int, int> counts;
    while (!reader.AtEnd()) {
      if (!reader.Next(field)) return Found(bytes, reader.offset(), path, reader.error());
      const FieldDescriptor* known = type.FindFieldByNumber(field.number);
      if (known == nullptr || field.type != WireType::kBytes) continue;
      std::string inside = path.empty() ? known->name() : absl::StrCat(path, ".", known->name());
      if (known->is_repeated()) absl::StrAppend(&inside, "[", counts[field.number]++, "]");
      if (FindInside(field.content, *known, inside, depth)) return true;
    }
    return false;
  }

  const std::string& description() const { return description_; }

 private:
  bool FindInside(absl::string_view content, const FieldDescriptor& field, const std::string& path,
                  int depth) {
    if (field.type() == FieldDescriptor::TYPE_MESSAGE)
      return Find(content, *field.message_type(), path, depth + 1);
    if (field.type() != FieldDescriptor::TYPE_STRING) return false;
    const size_t invalid = FindInvalidUtf8(content);
    return invalid != absl::string_view::npos && Found(content, invalid, path, "text is not UTF-8");
  }

  bool Found(absl::string_view bytes, size_t offset, const std::string& path, const char* what) {
    const size_t start = bytes.data() - whole_.data();
    description_ =
        absl::StrCat("byte ", start + offset, path.empty() ? "" : ", in ", path, ": ", what);
    return true;
  }

  absl::string_view whole_;
  std::string description_;
};

}  // namespace

bool WireReader::AnyVarint(uint64_t& value) {
  constexpr size_t kLongest = 10;  // bytes, of seven bits each
  const size_t most = std::min(static_cast<size_t>(end_ - at_), kLongest);
  value = 0;
  for (size_t i = 0; i < most; ++i) {
    const auto byte = static_cast<unsigned char>(at_[i]);
    if (7 * i < 64) value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    at_ += i + 1;
    return true;
  }
  return Fail(at_ + most,
              most < kLongest ? "the bytes end inside a number" : "a number of over ten bytes");
}

bool TakeField(absl::string_view bytes, int number, std::vector<absl::string_view>& contents,
               std::string& others) {
  WireReader reader(bytes);
  WireField field;
  size_t kept = 0;  // up to here, bytes are in `others` or taken out
  while (!reader.AtEnd()) {
    const size_t start = reader.offset();
    if (!reader.Next(field)) return false;
    if (field.number != number || field.type != WireType::kBytes) continue;
    contents.push_back(field.content);
    if (start > kept) others.append(bytes.data() + kept, start - kept);
    kept = reader.offset();
  }
  others.append(bytes.data() + kept, bytes.size() - kept);
  return true;
}

absl::string_view FirstContent(absl::string_view bytes, int number) {
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd() && reader.Next(field))
    if (field.number == number && field.type == WireType::kBytes) return field.content;
  return "";
}

bool HasField(absl::string_view bytes, int number, WireType type) {
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd() && reader.Next(field))
    if (field.number == number && field.type == type) return true;
  return false;
}

std::string FieldsBeyond(absl::string_view bytes, absl::Span<const int> numbers) {
  std::string others;
  WireReader reader(bytes);
  WireField field;
  for (size_t start = 0; !reader.AtEnd() && reader.Next(field); start = reader.offset()) {
    if (std::find(numbers.begin(), numbers.end(), field.number) != numbers.end()) continue;
    others.append(bytes.data() + start, reader.offset() - start);
  }
  return others;
}

size_t OffsetFrom(absl::string_view message, int number) {
  WireReader reader(message);
  WireField field;
  while (!reader.AtEnd()) {
    const size_t start = reader.offset();
    if (!reader.Next(field) || field.number >= number) return start;
  }
  return message.size();
}

bool IsUtf8(absl::string_view text) { return FindInvalidUtf8(text) == absl::string_view::npos; }

void AppendVarint(std::string& out, uint64_t value) {
  char bytes[10];
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>(value | 0x80);
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

void AppendField(std::string& out, int number, absl::string_view content) {
  AppendVarint(out, static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(WireType::kBytes));
  AppendVarint(out, content.size());
  out.append(content.data(), content.size());
}

std::string DescribeDamage(absl::string_view bytes, const Descriptor& type) {
  DamageFinder finder(bytes);
  if (finder.Find(bytes, type, "", 0)) return finder.description();
  return absl::StrCat("no ", type.name());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
