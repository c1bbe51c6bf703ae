// How long one device computes an instruction: the longest of its products, its other arithmetic
// and its memory traffic (a roofline), and a launch before it.
#pragma once

#include "analysis/instruction_cost.h"
#include "ir/instruction.h"
#include "simulate/topology.h"

namespace hlokit {

enum class Bound : uint8_t { kNothing, kProducts, kArithmetic, kMemory, kLaunch };
absl::string_view Text(Bound bound);

struct KernelTime {
  double seconds = 0;  // 0: nothing runs
  Bound bound = Bound::kNothing;
  double product_flops = 0;  // of dots, convolutions, and calls that compute them
  double ideal_seconds = 0;  // of those alone, at the peak rate of their types
};

KernelTime TimeOfKernel(const Instruction& instruction, const DeviceModel& device);

// Whether the instruction computes again what the forward pass had computed (JAX's checkpoint), so
// that its products are none of the model's.
bool IsRematerialized(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
