// Figures for cores with vectors of 16 to 64 bytes that LLVM's loop vectorizer fills.
#include "backends/cpu/kernels/target.h"

#include <cstdlib>

namespace hlokit {

bool HasEagerKernels() {
  static const bool eager = std::getenv("HLOKIT_EAGER_KERNELS") != nullptr;
  return eager;
}

const TargetInfo& CpuTargetInfo() {
  static constexpr TargetInfo kTarget = {
      .index_bits = 64,
      .row_bytes = 32 << 10,
      .column_bytes = 128 << 10,
      .far_bytes = 4 << 20,
      .cache_line_bytes = 64,
      .copy_bytes = 1 << 16,
      // Rows of eight and more elements make vectors of their own and are not unrolled.
      .tiling = {.min_elements = 64,
                 .max_elements = 8192,
                 .max_work = 65536,
                 .min_row = 64,
                 .max_row = 1024,
                 .max_unrolled = 7,
                 .max_unrolled_work = 96},
      .fusion = {},  // its defaults are the CPU's
  };
  static const TargetInfo eager_target = [] {
    TargetInfo target = kTarget;
    target.fusion.lanes.min_columns = target.fusion.lanes.min_short_rows = 2;
    target.fusion.lanes.min_plain_row = 2;
    return target;
  }();
  return HasEagerKernels() ? eager_target : kTarget;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
