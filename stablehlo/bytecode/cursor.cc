// Numbers and sections of MLIR bytecode.
//
// A number takes 1 to 9 bytes. The zeros below the lowest set bit of its first byte say how many
// bytes follow, so its length is known after one byte and one count of trailing zeros:
//   xxxxxxx1                      7 bits
//   xxxxxx10 xxxxxxxx             14 bits: 300 is (300 << 2) | 2 = 0x04b2, bytes b2 04
//   00000000 and 8 bytes          64 bits
// Signed numbers are zigzag numbers: 0, -1, 1, -2 are 0, 1, 2, 3.
//
// Every read checks what is left first and then fails with the offset in the file. A list may not
// claim more elements than bytes are left, so a damaged file of N bytes never makes the reader
// allocate more than a multiple of N.
#include "stablehlo/bytecode/cursor_internal.h"

namespace hlokit {

bool BytecodeCursor::Byte(uint8_t& value) {
  if (AtEnd()) return Fail("the section ends too early");
  value = static_cast<uint8_t>(bytes_[at_++]);
  return true;
}

bool BytecodeCursor::VarInt(uint64_t& value) {
  uint8_t first = 0;
  if (!Byte(first)) return false;
  const int more = first == 0 ? 8 : __builtin_ctz(first);
  if (remaining() < static_cast<uint64_t>(more)) return Fail("the section ends within a number");
  uint64_t rest = 0;
  for (int i = 0; i < more; ++i) rest |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << (8 * i);
  at_ += more;
  value = more == 8 ? rest : ((rest << 8) | first) >> (more + 1);
  return true;
}

bool BytecodeCursor::SignedVarInt(int64_t& value) {
  uint64_t coded = 0;
  if (!VarInt(coded)) return false;
  value = static_cast<int64_t>((coded >> 1) ^ (uint64_t{0} - (coded & 1)));
  return true;
}

bool BytecodeCursor::VarIntWithFlag(uint64_t& value, bool& flag) {
  if (!VarInt(value)) return false;
  flag = (value & 1) != 0;
  value >>= 1;
  return true;
}

bool BytecodeCursor::Count(uint64_t& value) {
  if (!VarInt(value)) return false;
  return value <= remaining() || Fail("a list of ", value, " is longer than its section");
}

bool BytecodeCursor::SignedVarInts(std::vector<int64_t>& values) {
  uint64_t count = 0;
  if (!Count(count)) return false;
  values.resize(count);
  for (int64_t& value : values)
    if (!SignedVarInt(value)) return false;
  return true;
}

bool BytecodeCursor::Bytes(uint64_t count, absl::string_view& bytes) {
  if (count > remaining())
    return Fail("expected ", count, " bytes, but ", remaining(), " are left");
  bytes = bytes_.substr(at_, count);
  at_ += count;
  return true;
}

bool BytecodeCursor::CString(absl::string_view& text) {
  const size_t end = bytes_.find('\0', at_);
  if (end == bytes_.npos) return Fail("a string does not end");
  text = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return true;
}

bool BytecodeCursor::Align(uint64_t alignment) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return Fail("an alignment of ", alignment, " is no power of two");
  absl::string_view padding;
  return Bytes((alignment - offset() % alignment) % alignment, padding);
}

bool BytecodeCursor::Section(uint8_t& id, absl::string_view& body, uint64_t& body_offset) {
  uint64_t length = 0, alignment = 0;
  if (!Byte(id) || !VarInt(length)) return false;
  if ((id & 0x80) != 0 && (!VarInt(alignment) || !Align(alignment))) return false;
  id &= 0x7f;
  body_offset = offset();
  return Bytes(length, body);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
