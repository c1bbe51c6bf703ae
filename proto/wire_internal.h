// The wire format of protobuf without messages: to guess what a file is, to say where a broken one
// is broken, and to read and write what is there most of the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
}

namespace hlokit {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  int number = 0;
  WireType type = WireType::kVarint;
  uint64_t varint = 0;        // kVarint
  absl::string_view content;  // kBytes
};

// Reads fields one after the other.
class WireReader {
 public:
  explicit WireReader(absl::string_view bytes) : bytes_(bytes) {}
  bool AtEnd() const { return at_ == bytes_.size(); }
  size_t offset() const { return at_; }
  // False where the bytes are no field; error() says why, and offset() is where.
  bool Next(WireField& field);
  bool Varint(uint64_t& value) {
    if (at_ == bytes_.size() || static_cast<unsigned char>(bytes_[at_]) >= 0x80)
      return LongVarint(value);
    value = static_cast<unsigned char>(bytes_[at_++]);
    return true;
  }
  const char* error() const { return error_; }

 private:
  bool LongVarint(uint64_t& value);
  bool Skip(size_t size, const char* error) {
    if (bytes_.size() - at_ < size) return Fail(at_, error);
    at_ += size;
    return true;
  }
  bool Fail(size_t at, const char* error) {
    at_ = at;
    error_ = error;
    return false;
  }

  absl::string_view bytes_;
  size_t at_ = 0;
  const char* error_ = "";
};

inline bool WireReader::Next(WireField& field) {
  const size_t start = at_;
  uint64_t tag = 0;
  if (!Varint(tag)) return false;
  field.number = static_cast<int>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  if (tag > 0xffffffff || field.number == 0) return Fail(start, "no field has this tag");
  constexpr const char* kEnds = "the bytes end inside a field";
  switch (field.type) {
    case WireType::kVarint:
      return Varint(field.varint);
    case WireType::kFixed64:
      return Skip(8, kEnds);
    case WireType::kFixed32:
      return Skip(4, kEnds);
    case WireType::kBytes: {
      uint64_t size = 0;
      if (!Varint(size)) return false;
      const size_t content = at_;
      if (!Skip(size, "the field is longer than what holds it")) return false;
      field.content = absl::string_view(bytes_.data() + content, size);
      return true;
    }
  }
  return Fail(start, "no field is of this wire type");
}

// Appends the numbers of a field of numbers, packed or not; false where the bytes are broken.
template <typename Numbers>
bool AppendNumbers(const WireField& field, Numbers& numbers) {
  if (field.type == WireType::kVarint) {
    numbers.push_back(static_cast<int64_t>(field.varint));
    return true;
  }
  if (field.type != WireType::kBytes) return false;
  WireReader reader(field.content);
  uint64_t number = 0;
  while (!reader.AtEnd()) {
    if (!reader.Varint(number)) return false;
    numbers.push_back(static_cast<int64_t>(number));
  }
  return true;
}

// Takes apart a message: the contents of one field of type kBytes, and everything else as it
// stands. False where the bytes are broken.
bool TakeField(absl::string_view bytes, int number, std::vector<absl::string_view>& contents,
               std::string& others);

// The content of the first field of this number and type kBytes; empty where there is none, or the
// fields before it are broken.
absl::string_view FirstContent(absl::string_view bytes, int number);
bool HasField(absl::string_view bytes, int number, WireType type);

void AppendVarint(std::string& out, uint64_t value);
// Appends a field of bytes: a text, or a message.
void AppendField(std::string& out, int number, absl::string_view content);

// Where and why bytes are no message of the type: `byte 17, in computations[0].name: ...`.
std::string DescribeDamage(absl::string_view bytes, const google::protobuf::Descriptor& type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
