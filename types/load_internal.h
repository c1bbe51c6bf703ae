// Loads of values from unaligned bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace hlokit {

template <typename T>
T Load(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// The low `bytes` (1, 2, 4 or 8) at `at`; constant sizes let each memcpy become one load.
inline uint64_t LoadBits(const uint8_t* at, int bytes) {
  switch (bytes) {
    case 1:
      return *at;
    case 2:
      return Load<uint16_t>(at);
    case 4:
      return Load<uint32_t>(at);
    default:
      return Load<uint64_t>(at);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
