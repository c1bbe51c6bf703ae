// Writes the wire format of protobuf into one buffer, a message's length once its end is known.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "proto/wire_internal.h"

namespace hlokit {

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
