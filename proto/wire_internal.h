// The wire format of protobuf without messages: to guess what a file is, to say where a broken one
// is broken, and to read and write what is there most of the time. WireReader takes fields one
// after the other, WireWriter appends them to one buffer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace google::protobuf {
class Descriptor;
}

namespace hlokit {

// So deep may messages nest: libprotobuf's own limit.
inline constexpr int kDeepest = 100;

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Whether a field may have it, of whatever type.
constexpr bool IsTag(uint64_t tag) { return tag <= 0xffffffff && tag >> 3 != 0; }

struct WireField {
  int number = 0;
  WireType type = WireType::kVarint;
  uint64_t varint = 0;             // kVarint
  absl::string_view content;       // kBytes
  const char* readable = nullptr;  // the end of the memory that holds the content
};

// Reads fields one after the other.
class WireReader {
 public:
  explicit WireReader(absl::string_view bytes)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()), readable_(end_) {}
  // Of the content of a field of bytes.
  explicit WireReader(const WireField& field) : WireReader(field.content) {
    readable_ = field.readable;
  }
  bool AtEnd() const { return at_ == end_; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  const char* at() const { return at_; }
  // False where the bytes are no field; error() says why, and offset() is where.
  bool Next(WireField& field);
  // The same in two steps, for readers that know what they look for: the number and type of the
  // next field (WireTag), and what comes after, which Next would read.
  bool Tag(uint64_t& tag) {
    // Most are of two bytes at most.
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(at_[i]); };
    if (end_ - at_ < 2 || byte(0) < 0x80 || byte(1) >= 0x80) return Varint(tag);
    tag = static_cast<uint64_t>(byte(1)) << 7 | (byte(0) & 0x7f);
    at_ += 2;
    return true;
  }
  bool After(uint64_t tag, const char* start, WireField& field);
  [[gnu::always_inline]] bool Bytes(WireField& field) {
    field.type = WireType::kBytes;
    field.readable = readable_;
    return Content(field.content);
  }
  [[gnu::always_inline]] bool Content(absl::string_view& content) {
    uint64_t size = 0;
    if (!Varint(size)) return false;
    const char* const start = at_;
    if (!Skip(size, "the field is longer than what holds it")) return false;
    content = absl::string_view(start, size);
    return true;
  }
  const char* readable() const { return readable_; }
  [[gnu::always_inline]] bool Varint(uint64_t& value) {
    if (at_ == end_ || static_cast<unsigned char>(*at_) >= 0x80) return LongVarint(value);
    value = static_cast<unsigned char>(*at_++);
    return true;
  }
  const char* error() const { return error_; }

 private:
  bool LongVarint(uint64_t& value);
  bool AnyVarint(uint64_t& value);
  bool Skip(size_t size, const char* error) {
    if (static_cast<size_t>(end_ - at_) < size) return Fail(at_, error);
    at_ += size;
    return true;
  }
  bool Fail(const char* at, const char* error) {
    at_ = at;
    error_ = error;
    return false;
  }

  const char *begin_, *at_, *end_;
  const char* readable_;  // what may be loaded, although it is not to be read
  const char* error_ = "";
};

// Of up to eight bytes, which are read at once: those after the last one are masked out, the others
// give seven bits each.
[[gnu::always_inline]] inline bool WireReader::LongVarint(uint64_t& value) {
  uint64_t word = 0;
  if (std::endian::native != std::endian::little ||
      static_cast<size_t>(readable_ - at_) < sizeof(word))
    return AnyVarint(value);
  std::memcpy(&word, at_, sizeof(word));
  const uint64_t ends = ~word & 0x8080808080808080u;
  const size_t size = static_cast<size_t>(std::countr_zero(ends)) / 8 + 1;
  if (ends == 0 || size > static_cast<size_t>(end_ - at_)) return AnyVarint(value);
  word &= (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7fu;
  word = (word & 0x7f007f007f007f00u) >> 1 | (word & 0x007f007f007f007fu);
  word = (word & 0x3fff00003fff0000u) >> 2 | (word & 0x00003fff00003fffu);
  value = (word & 0x0fffffff00000000u) >> 4 | (word & 0x000000000fffffffu);
  at_ += size;
  return true;
}

// In line, so that loops keep the place they are at in a register.
[[gnu::always_inline]] inline bool WireReader::Next(WireField& field) {
  const char* const start = at_;
  uint64_t tag = 0;
  return Tag(tag) && After(tag, start, field);
}

[[gnu::always_inline]] inline bool WireReader::After(uint64_t tag, const char* start,
                                                     WireField& field) {
  field.number = static_cast<int>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  if (!IsTag(tag)) return Fail(start, "no field has this tag");
  constexpr const char* kEnds = "the bytes end inside a field";
  switch (field.type) {
    case WireType::kVarint:
      return Varint(field.varint);
    case WireType::kFixed64:
      return Skip(8, kEnds);
    case WireType::kFixed32:
      return Skip(4, kEnds);
    case WireType::kBytes:
      return Bytes(field);
  }
  return Fail(start, "no field is of this wire type");
}

constexpr uint64_t WireTag(int number, WireType type) {
  return static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type);
}

// Appends the numbers of a field of numbers, packed or not; false where the bytes are broken.
template <typename Numbers>
bool AppendNumbers(const WireField& field, Numbers& numbers) {
  if (field.type == WireType::kVarint) {
    numbers.push_back(static_cast<int64_t>(field.varint));
    return true;
  }
  if (field.type != WireType::kBytes) return false;
  WireReader reader(field);
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

// All fields but those of these numbers, as they stand. The bytes must be a message.
std::string FieldsBeyond(absl::string_view bytes, absl::Span<const int> numbers);

// Where the fields of numbers from this one on start in a message whose fields stand in order.
size_t OffsetFrom(absl::string_view message, int number);

bool IsUtf8(absl::string_view text);

void AppendVarint(std::string& out, uint64_t value);
// Appends a field of bytes: a text, or a message.
void AppendField(std::string& out, int number, absl::string_view content);

// Where and why bytes are no message of the type: `byte 17, in computations[0].name: ...`.
std::string DescribeDamage(absl::string_view bytes, const google::protobuf::Descriptor& type);

// Bytes that the number takes.
inline size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

class WireWriter {
 public:
  WireWriter() = default;
  WireWriter(const WireWriter&) = delete;
  WireWriter& operator=(const WireWriter&) = delete;

  // What one of the calls below writes at most, beyond the bytes it is given.
  static constexpr size_t kMaxAround = 24;

  // Reserves so many bytes; the following writes may not exceed them before the next call.
  void Reserve(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) Grow(bytes);
  }
  absl::string_view view() const { return {out_.data(), size()}; }
  size_t size() const { return static_cast<size_t>(at_ - out_.data()); }

  void Varint(uint64_t value) {
    if (value < 0x80) {
      *at_++ = static_cast<char>(value);
    } else {
      LongVarint(value);
    }
  }
  void Tag(int number, WireType type) { Varint(WireTag(number, type)); }
  void Raw(absl::string_view bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  void Bytes(int number, absl::string_view content) {
    Tag(number, WireType::kBytes);
    Varint(content.size());
    Raw(content);
  }
  // A number in a field of its own; nothing where it is 0.
  void Number(int number, int64_t value) {
    if (value == 0) return;
    Tag(number, WireType::kVarint);
    Varint(static_cast<uint64_t>(value));
  }

  // Starts a message, or a packed list, that is about as long as `expected`; what is returned goes
  // to Close().
  struct Message {
    size_t start = 0;   // of its content
    size_t length = 0;  // bytes kept free for the length, in front of it
  };
  Message Open(int number, size_t expected) {
    Tag(number, WireType::kBytes);
    const size_t length = VarintSize(expected);
    at_ += length;
    return {size(), length};
  }
  // Writes its length; moves the content where that takes more or fewer bytes than expected, for
  // which must be reserved. Returns where the content starts.
  size_t Close(const Message& message) {
    const size_t bytes = size() - message.start;
    const size_t length = VarintSize(bytes);
    char* const start = out_.data() + message.start;
    if (length != message.length) std::memmove(start - message.length + length, start, bytes);
    at_ = start - message.length;
    ShortVarint(bytes);
    at_ += bytes;
    return message.start - message.length + length;
  }

  // Takes back what was written from this size() on.
  void BackTo(size_t size) { at_ = out_.data() + size; }

  // What was written; the writer is empty again.
  std::string Take() {
    out_.resize(size());
    std::string taken = std::move(out_);
    out_.clear();
    at_ = end_ = out_.data();
    return taken;
  }

 private:
  void Grow(size_t bytes) {
    const size_t size = this->size();
    out_.resize(std::max<size_t>({size + bytes, 2 * size, 4096}));
    at_ = out_.data() + size;
    end_ = out_.data() + out_.size();
  }
  // Touches no byte but its own.
  void ShortVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  // Seven bits a byte, up to eight bytes at once.
  void LongVarint(uint64_t value) {
    const size_t size = VarintSize(value);
    if (size > sizeof(value) || std::endian::native != std::endian::little)
      return ShortVarint(value);
    value = (value & 0x0fffffff) | (value & 0x00fffffff0000000u) << 4;
    value = (value & 0x00003fff00003fffu) | (value & 0x0fffc0000fffc000u) << 2;
    value = (value & 0x007f007f007f007fu) | (value & 0x3f803f803f803f80u) << 1;
    value |= 0x8080808080808080u & ~(~uint64_t{0} << 8 * (size - 1));
    std::memcpy(at_, &value, sizeof(value));
    at_ += size;
  }

  std::string out_;
  char *at_ = out_.data(), *end_ = at_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
