// The tensor map: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write into 128 bytes, and
// tensormap.replace changes. NVIDIA keeps the form to itself; this is the simulator's own.
#pragma once

#include <cstdint>

namespace hlokit::ptx {

struct TensorMap {
  static constexpr uint32_t kMagic = 0x504d5448;

  uint64_t address = 0;
  uint64_t strides[4] = {};  // bytes, of dimensions 1, 2, ...
  uint32_t magic = kMagic;
  uint32_t dims[5] = {};  // elements; 0 stands for 2^32
  uint32_t box[5] = {};   // elements; of im2col: [0] channels, [1] pixels
  int16_t lower[3] = {};  // im2col: the corner of the box, per spatial dimension
  int16_t upper[3] = {};
  uint8_t element_strides[5] = {};
  uint8_t rank = 0;          // 1 to 5
  uint8_t element_type = 0;  // as tensormap.replace numbers them
  uint8_t interleave = 0, swizzle = 0, fill = 0, swizzle_atom = 0;
  uint8_t is_im2col = 0;
  uint8_t unused[20] = {};
};
static_assert(sizeof(TensorMap) == 128);

// Bits of an element in global memory, by TensorMap::element_type; 0 where there is none.
int TensorElementBits(int element_type);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
