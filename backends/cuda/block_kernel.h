// A strategy whose kernel is made of whole blocks: a plan says how many, an emitter writes one.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "backends/cuda/ptx_code.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {

// Appends the kernel of plan->Blocks() blocks of kBlockThreads threads whose code is
// Emitter(*plan, b, arrays, unit).Emit(), `unit` being the number of the thread. False, and nothing
// appended, without a plan.
template <typename Emitter, typename Plan>
bool AddBlockKernel(std::optional<Plan> plan, std::vector<Kernel>& out) {
  if (!plan.has_value()) return false;
  Kernel kernel;
  kernel.units = plan->Blocks() * kBlockThreads;
  kernel.emit = [plan = *std::move(plan)](Builder& b, KernelArrays& arrays, llvm::Value* unit,
                                          llvm::Value*) { Emitter(plan, b, arrays, unit).Emit(); };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
