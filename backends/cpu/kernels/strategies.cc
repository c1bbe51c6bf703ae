// The list of strategies. Those of few conditions stand after those of many.
#include "backends/cpu/kernels/strategies.h"

#include "backends/cpu/kernels/strategies_internal.h"

namespace hlokit {

absl::Span<const KernelStrategy> CpuKernelStrategies() {
  static constexpr KernelStrategy kStrategies[] = {
      {"scatter", AddScatterKernels},
      {"update in place", AddUpdateKernels},
      {"contiguous slice", AddSliceCopy},
      {"bitcast of other width", AddBitcastCopy},
      {"concatenate", AddConcatenateWithCopies},
      {"pad", AddPadKernels},
      {"scan", AddScanKernels},
      {"reduction of narrow floats", AddBlockReductionKernels},
      {"batch of small dots", AddSmallDotKernels},
      {"rows", AddRowKernels},
      {"reduction of columns", AddColumnReduceKernels},
      {"functions of elements", AddStagedKernels},
      {"elements", AddElementKernels},
  };
  return kStrategies;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
