// Decoding: from a kernel of a Module to the Program that runs.
#pragma once

#include <memory>
#include <string>

#include "ptxsim/program.h"
#include "support/diagnostics.h"

namespace hlokit::ptx {

// The kernel `name` and all that it calls or takes the address of. Null where `out` got errors:
// names that stand for nothing, operands of a wrong kind, and instructions that the simulator does
// not have (each named). Variables of the module lie from byte `image_base` of the image window on,
// a multiple of 16: the same for every kernel of the module, so that they outlive a launch.
std::unique_ptr<Program> DecodeKernel(std::shared_ptr<const Module> module, const Function& kernel,
                                      Diagnostics& out, int64_t image_base = 0);

// Fills `code.order`; see there.
void ComputeOrder(Code& code);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
