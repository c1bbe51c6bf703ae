// The steps of a module on the CPU: which instructions it computes by kernels, by its runtime
// library or by the interpreter.
#pragma once

#include "codegen/program.h"

namespace hlokit {

// The steps of a module that LowerForCpu has lowered. Devices meet in the runtime (kCollective) or
// in the interpreter (kHost): all collectives of a module in one of the two, since devices that
// wait know only of others that wait at the same place. Preconditions: as MakeProgram.
Program MakeCpuProgram(const Module& module, const BufferAssignment& buffers);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
