// The wire format of protobuf, walked without messages: to guess what a file is, and to say where a
// broken one is broken.
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
  const char* error() const { return error_; }

 private:
  bool Varint(uint64_t& value);
  bool Skip(size_t size, const char* error);

  absl::string_view bytes_;
  size_t at_ = 0;
  const char* error_ = "";
};

// Takes apart a message: the contents of one field of type kBytes, and everything else as it
// stands. False where the bytes are broken.
bool TakeField(absl::string_view bytes, int number, std::vector<absl::string_view>& contents,
               std::string& others);

// The content of the first field of this number and type kBytes; empty where there is none, or the
// fields before it are broken.
absl::string_view FirstContent(absl::string_view bytes, int number);
bool HasField(absl::string_view bytes, int number, WireType type);

// Where and why bytes are no message of the type: `byte 17, in computations[0].name: ...`.
std::string DescribeDamage(absl::string_view bytes, const google::protobuf::Descriptor& type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
