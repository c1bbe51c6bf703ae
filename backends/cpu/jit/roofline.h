// What this machine can do at most, measured: the roof under which kernels are judged.
#pragma once

namespace hlokit {

struct Roofline {
  double flops_per_second = 0;  // f32 multiplications and additions in vector registers
  double bytes_per_second = 0;  // read and written by a copy too large for caches

  // The least time that so many operations and bytes take.
  double Seconds(double flops, double bytes) const;
};

// Takes about a tenth of a second on `threads` threads (0: one a core).
Roofline MeasureRoofline(int threads);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
