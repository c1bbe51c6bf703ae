// cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, cuTensorMapReplaceAddress: "CUDA Driver API",
// tensor map object management. The bounds are those of the documentation; what breaks one is
// refused with CUDA_ERROR_INVALID_VALUE, as by the driver.
#include <algorithm>
#include <cstring>

#include "ptxsim/driver/client_api.h"
#include "ptxsim/tensor_map.h"

namespace hlokit::cuda {
namespace {

// CUtensorMapDataType as tensormap.replace numbers elements.
constexpr uint8_t kElementTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12, 13, 14, 15};

bool InRange(uint64_t value, uint64_t least, uint64_t most) {
  return value >= least && value <= most;
}

// What both kinds share; false where a bound is broken.
bool FillMap(ptx::TensorMap& map, const TensorMapArguments& a, uint32_t least_rank) {
  if (!InRange(a.rank, least_rank, 5) || a.type < 0 || a.type > 15 || a.dims == nullptr ||
      (a.rank > 1 && a.strides == nullptr) || a.element_strides == nullptr ||
      a.address % (a.interleave == 2 ? 32 : 16) != 0 || a.interleave < 0 || a.interleave > 2 ||
      a.swizzle < 0 || a.swizzle > 6 || a.fill < 0 || a.fill > 1)
    return false;
  map.rank = static_cast<uint8_t>(a.rank);
  map.element_type = kElementTypes[a.type];
  map.address = a.address;
  map.interleave = static_cast<uint8_t>(a.interleave);
  map.swizzle = static_cast<uint8_t>(a.swizzle);
  map.fill = static_cast<uint8_t>(a.fill);
  for (uint32_t d = 0; d < a.rank; ++d) {
    if (!InRange(a.dims[d], 1, uint64_t{1} << 32) || !InRange(a.element_strides[d], 1, 8))
      return false;
    map.dims[d] = static_cast<uint32_t>(std::min<uint64_t>(a.dims[d], ~uint32_t{0}));
    map.element_strides[d] = static_cast<uint8_t>(a.element_strides[d]);
    if (d == 0) continue;
    if (a.strides[d - 1] % 16 != 0 || a.strides[d - 1] >= uint64_t{1} << 40) return false;
    map.strides[d - 1] = a.strides[d - 1];
  }
  return true;
}

// The box's innermost bytes: a multiple of 16, inside the swizzle's span.
bool FitsSwizzle(const ptx::TensorMap& map) {
  const int64_t bytes = int64_t{map.box[0]} * ptx::TensorElementBits(map.element_type) / 8;
  constexpr int64_t kSpans[] = {1 << 20, 32, 64, 128, 128, 128, 128};
  return bytes % 16 == 0 && bytes <= kSpans[map.swizzle];
}

}  // namespace

extern "C" {

Result cuTensorMapEncodeTiled(void* map, int type, unsigned rank, DeviceAddress address,
                              const uint64_t* dims, const uint64_t* strides, const unsigned* box,
                              const unsigned* element_strides, int interleave, int swizzle, int,
                              int fill) {
  ptx::TensorMap made;
  if (map == nullptr || box == nullptr || reinterpret_cast<uintptr_t>(map) % 64 != 0 ||
      !FillMap(made,
               {type, rank, address, dims, strides, element_strides, interleave, swizzle, fill}, 1))
    return kInvalidValue;
  for (unsigned d = 0; d < rank; ++d) {
    if (!InRange(box[d], 1, 256)) return kInvalidValue;
    made.box[d] = box[d];
  }
  if (interleave == 0 && !FitsSwizzle(made)) return kInvalidValue;
  std::memcpy(map, &made, sizeof made);
  return kSuccess;
}

Result cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, DeviceAddress address,
                               const uint64_t* dims, const uint64_t* strides, const int* lower,
                               const int* upper, unsigned channels, unsigned pixels,
                               const unsigned* element_strides, int interleave, int swizzle, int,
                               int fill) {
  ptx::TensorMap made;
  if (map == nullptr || lower == nullptr || upper == nullptr ||
      reinterpret_cast<uintptr_t>(map) % 64 != 0 || !InRange(channels, 1, 256) ||
      !InRange(pixels, 1, 1024) ||
      !FillMap(made,
               {type, rank, address, dims, strides, element_strides, interleave, swizzle, fill}, 3))
    return kInvalidValue;
  made.is_im2col = 1;
  made.box[0] = channels;
  made.box[1] = pixels;
  const int bound = 1 << (rank == 3 ? 15 : rank == 4 ? 7 : 4);
  for (unsigned s = 0; s + 2 < rank; ++s) {
    if (lower[s] < -bound || lower[s] >= bound || upper[s] < -bound || upper[s] >= bound)
      return kInvalidValue;
    made.lower[s] = static_cast<int16_t>(lower[s]);
    made.upper[s] = static_cast<int16_t>(upper[s]);
  }
  if (interleave == 0 && !FitsSwizzle(made)) return kInvalidValue;
  std::memcpy(map, &made, sizeof made);
  return kSuccess;
}

Result cuTensorMapReplaceAddress(void* map, DeviceAddress address) {
  ptx::TensorMap own;
  if (map == nullptr || address % 16 != 0) return kInvalidValue;
  std::memcpy(&own, map, sizeof own);
  if (own.magic != ptx::TensorMap::kMagic) return kInvalidValue;
  own.address = address;
  std::memcpy(map, &own, sizeof own);
  return kSuccess;
}

}  // extern "C"

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
