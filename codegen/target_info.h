// What shared code has to know about the machine it emits for. A backend makes one TargetInfo and
// passes it down with each request for kernels; the defaults describe a scalar machine with 64-bit
// indices.
#pragma once

#include <cstdint>

#include "analysis/fusion_limits.h"

namespace hlokit {

// How the elements of an array are cut into units of work (codegen/iteration_space.h). A CPU wants
// units of many neighbouring elements, which LLVM vectorizes and threads share in ranges:
//
//   f32[100,3,20]: a unit is the 60 elements of [i,:,:]; there are 100 units.
//
// A GPU, whose threads compute a unit each, wants one element a unit (min_elements = 1), or the few
// that one vector load brings (min_row = max_row = 4).
struct TilingPolicy {
  // A unit takes in the next dimension, fastest first, while it has fewer elements than this.
  int64_t min_elements = 1;
  // Where all dimensions are in the unit, its slowest is cut off again if the unit has more
  // elements or more work (in simple float operations) than this.
  int64_t max_elements = 8192;
  double max_work = 65536;
  // Where elements are walked by position alone, or along one dimension, a unit is a row of the
  // largest power of two between these that divides their number, so that vectors of all widths
  // divide it too; one element where none does.
  int64_t min_row = 1, max_row = 1;
  // The fastest dimension is unrolled where IterationSpace::UnrollShortRows asks for it and it has
  // at most so many elements of so much work together: LLVM then vectorizes along the next one.
  int64_t max_unrolled = 0;
  double max_unrolled_work = 0;
};

struct TargetInfo {
  // Bits of index arithmetic. With 32, kernels with larger arrays still take 64 (IndexBitsOf).
  int index_bits = 64;
  // Scratch bytes that stay in the first cache beside the rows that a thread reads, and in the
  // second beside columns; arrays from which memory is far, so that reads are prefetched.
  int64_t row_bytes = 32 << 10, column_bytes = 128 << 10;
  int64_t far_bytes = 4 << 20;
  int64_t cache_line_bytes = 64;
  // Bytes that one unit of a plain copy moves.
  int64_t copy_bytes = 4096;
  // Whether scalars that have nothing in common are worth a kernel together: kernels are launches.
  bool merges_scalars = false;
  TilingPolicy tiling = {};
  // What fusions its kernels like: figures that its pipeline gives to the fusion passes too.
  FusionLimits fusion = {};
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
