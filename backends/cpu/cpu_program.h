// Which instructions the CPU computes by kernels, by its runtime library or by the interpreter.
#pragma once

#include "codegen/program.h"

namespace hlokit {

// Whether devices meet in the runtime (kCollective) and not in the interpreter (kHost): all
// collectives of a module do, or none, since devices that wait know only of others that wait at the
// same place.
bool HasCollectiveCode(const Module& module);

// The steps of a module that LowerForCpu has lowered. Preconditions: as MakeProgram.
Program MakeCpuProgram(const Module& module, const BufferAssignment& buffers);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
