// Loops over the 32 lanes of a warp that gain much from wide vectors, compiled for each instruction
// set (lane_kernels_internal.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlokit::ptx {

// Where the lanes of a warp want to access memory: lane i of `mask` at addresses[i] + added.
struct LaneAccess {
  const uint64_t* addresses;
  uint64_t added;
  uint32_t mask;
  uint64_t size;  // bytes of an access, a power of two
};
// A piece of memory of `size` bytes from `address` on, and the host's memory behind it.
struct LanePiece {
  uint64_t address, size;
  std::byte* host;
};

struct LaneKernels {
  // d = a * b + c, rounded once, in the processor's rounding mode; NaNs as the processor has them.
  // Null where it has no such instruction. `d` is none of the others.
  void (*fma_f32)(const float* a, const float* b, const float* c, float* d);
  void (*fma_f64)(const double* a, const double* b, const double* c, double* d);
  // The host's address of each lane; false where a lane of the mask is misaligned or not inside.
  bool (*resolve)(const LaneAccess& access, const LanePiece& piece, std::byte** hosts);
};

// For this machine.
const LaneKernels& BestLaneKernels();

namespace isa_base {
extern const LaneKernels kLaneKernels;
}
namespace isa_avx2 {
extern const LaneKernels kLaneKernels;
}
namespace isa_avx512 {
extern const LaneKernels kLaneKernels;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
