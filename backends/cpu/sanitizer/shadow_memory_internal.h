// Arrays with a byte of state for each of their bytes, at a distance that compiled code knows.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace hlokit {

// From a byte to its state, in bytes.
inline constexpr int64_t kShadowDistance = int64_t{1} << 38;
// The state of bytes that nothing was written to; other states are those of Sanitizer::TagOf.
inline constexpr uint8_t kUnwritten = 0;

// Memory of a run whose code checks itself. Blocks of a process lie in one range of addresses of
// which pages are given out as they are used; between two blocks some pages belong to neither.
class ShadowedBlock {
 public:
  // Zeros, unwritten, at a multiple of 64 bytes. Errors: ResourceExhausted if the system gives no
  // addresses.
  static absl::StatusOr<std::unique_ptr<ShadowedBlock>> Make(int64_t size);
  ~ShadowedBlock();
  ShadowedBlock(const ShadowedBlock&) = delete;
  ShadowedBlock& operator=(const ShadowedBlock&) = delete;

  char* data() const { return data_; }
  int64_t size() const { return size_; }
  // Sets the state of all bytes.
  void SetState(uint8_t state);

 private:
  ShadowedBlock(char* data, int64_t size) : data_(data), size_(size) {}
  char* data_;
  int64_t size_;
};

inline uint8_t* StateOf(void* data) { return static_cast<uint8_t*>(data) + kShadowDistance; }
inline const uint8_t* StateOf(const void* data) {
  return static_cast<const uint8_t*>(data) + kShadowDistance;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
