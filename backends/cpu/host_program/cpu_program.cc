// Library calls first: they are faster than generated loops for what they compute.
#include "backends/cpu/host_program/cpu_program.h"

#include "analysis/emittable.h"
#include "backends/cpu/library_calls/call_site.h"
#include "backends/cpu/library_calls/collective_call.h"
#include "codegen/kernels.h"

namespace hlokit {

Program MakeCpuProgram(const Module& module, const BufferAssignment& buffers) {
  const bool collectives = CheckCollectives(module).ok();
  return MakeProgram(module, buffers, [&](const Instruction& i) {
    if (collectives && IsDeviceCommunication(i)) return StepKind::kCollective;
    if (HasLibraryCall(i)) return StepKind::kLibrary;
    return CanEmitKernels(i) ? StepKind::kKernel : StepKind::kHost;
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
