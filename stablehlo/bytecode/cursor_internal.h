// Numbers and sections of MLIR bytecode, and the first error with its offset.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// A stretch of the file. Each Read gives false after an error, which `error` then says.
class BytecodeCursor {
 public:
  // `base` is where `bytes` begins in the file; `section` names it in messages.
  BytecodeCursor(absl::string_view bytes, uint64_t base, const char* section, absl::Status* error)
      : bytes_(bytes), base_(base), section_(section), error_(error) {}

  bool AtEnd() const { return at_ >= bytes_.size(); }
  uint64_t offset() const { return base_ + at_; }
  uint64_t remaining() const { return bytes_.size() - at_; }
  const char* section() const { return section_; }

  bool Byte(uint8_t& value);
  // 1 to 9 bytes: the zeros below the first set bit of the first one say how many follow.
  bool VarInt(uint64_t& value);
  bool SignedVarInt(int64_t& value);                 // zigzag
  bool VarIntWithFlag(uint64_t& value, bool& flag);  // the flag is the lowest bit
  // A number of things that take a byte each at least, so no more than are left.
  bool Count(uint64_t& value);
  bool SignedVarInts(std::vector<int64_t>& values);
  bool Bytes(uint64_t count, absl::string_view& bytes);
  bool CString(absl::string_view& text);  // up to a zero, which is taken
  bool Align(uint64_t alignment);         // in the file
  // The id, the length and the alignment; `body` is what follows, named `section`.
  bool Section(uint8_t& id, absl::string_view& body, uint64_t& body_offset);
  BytecodeCursor Sub(absl::string_view bytes, uint64_t base, const char* section) const {
    return BytecodeCursor(bytes, base, section, error_);
  }

  template <typename... Parts>
  bool Fail(const Parts&... parts) const {
    if (error_->ok())
      *error_ = absl::InvalidArgumentError(
          absl::StrCat("byte ", offset(), ", ", section_, ": ", parts...));
    return false;
  }

 private:
  absl::string_view bytes_;
  uint64_t base_;
  const char* section_;
  absl::Status* error_;
  size_t at_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
