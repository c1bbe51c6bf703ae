// Numbers and strings in the messages that processes of one job exchange: in the order in which
// they were written, in the machine's own form.
#pragma once

#include <stdint.h>
#include <string.h>

#include <string>
#include <utility>
#include <vector>

namespace hlokit {

class MessageWriter {
 public:
  void Int(int64_t value) { Raw(&value, sizeof value); }
  void Bytes(const char* data, size_t size) {
    Int(static_cast<int64_t>(size));
    Raw(data, size);
  }
  void Text(const std::string& text) { Bytes(text.data(), text.size()); }
  std::vector<char> Take() { return std::move(bytes_); }

 private:
  void Raw(const void* data, size_t size) {
    const char* const begin = static_cast<const char*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  std::vector<char> bytes_;
};

// What is missing reads as 0 and as nothing.
class MessageReader {
 public:
  explicit MessageReader(const std::vector<char>& bytes) : bytes_(bytes) {}
  int64_t Int() {
    int64_t value = 0;
    if (bytes_.size() - at_ < sizeof value) return 0;
    memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::vector<char> Bytes() {
    const auto size = static_cast<uint64_t>(Int());
    if (size > bytes_.size() - at_) return {};
    const auto begin = bytes_.begin() + static_cast<int64_t>(at_);
    at_ += size;
    return {begin, begin + static_cast<int64_t>(size)};
  }
  std::string Text() {
    const std::vector<char> bytes = Bytes();
    return {bytes.begin(), bytes.end()};
  }

 private:
  const std::vector<char>& bytes_;
  size_t at_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
