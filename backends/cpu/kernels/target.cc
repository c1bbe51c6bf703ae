// Figures for cores with vectors of 16 to 64 bytes that LLVM's loop vectorizer fills.
#include "backends/cpu/kernels/target.h"

namespace hlokit {

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
  return kTarget;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
