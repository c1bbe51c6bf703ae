// The few facts of the zip format that .npz reading and writing share (PKWARE's APPNOTE 6.3).
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace hlokit {

// Signatures and fixed sizes of the records; all fields are little-endian.
inline constexpr uint32_t kZipLocal = 0x04034b50;
inline constexpr size_t kZipLocalSize = 30;
inline constexpr uint32_t kZipCentral = 0x02014b50;
inline constexpr size_t kZipCentralSize = 46;
inline constexpr uint32_t kZipEnd = 0x06054b50;
inline constexpr size_t kZipEndSize = 22;
inline constexpr uint32_t kZip64End = 0x06064b50;
inline constexpr size_t kZip64EndSize = 56;
inline constexpr uint32_t kZip64Locator = 0x07064b50;
inline constexpr size_t kZip64LocatorSize = 20;
inline constexpr uint16_t kZip64Extra = 1;

// Stands in a 32-bit field whose value is in the zip64 extra field.
inline constexpr uint64_t kZip32Max = 0xffffffff;

inline constexpr uint32_t kZipStored = 0;
inline constexpr uint32_t kZipDeflated = 8;

// CRC-32 of bytes that follow others whose sum is `crc`.
inline uint32_t ZipChecksum(uint32_t crc, absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
