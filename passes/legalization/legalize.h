// legalize: what code generation wants of any module, also of one that runs as it stands.
#pragma once

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {

// Afterwards: every computation that runs has one caller; fusions that `can_emit` refuses are
// expanded; constants other than scalars stand outside fusions; async-start/-done are plain calls
// and copies; copies of tuples are copies of arrays; collectives of a module for one device are
// what it sends to itself; custom calls get operands in the layouts they name, callees theirs, and
// the entry's parameters and result lie as entry_computation_layout says. Schedules stay schedules.
class Legalize final : public Pass {
 public:
  // True for fusions that the target has a kernel for. A target that takes other ones than
  // CanEmitKernels (analysis/emittable.h) adds a row for a pass of its own with AddPassRows.
  using CanEmit = bool (*)(const Instruction& fusion);

  // widens_inside: products of the target take quantized weights (analysis/quantized_product.h).
  explicit Legalize(CanEmit can_emit, bool widens_inside = false)
      : can_emit_(can_emit), widens_inside_(widens_inside) {}
  absl::string_view name() const override { return "legalize"; }
  bool handles_schedules() const override { return true; }
  absl::StatusOr<bool> Run(Module& module) override;

 private:
  const CanEmit can_emit_;
  const bool widens_inside_;
};

// By CanEmitKernels. Option: attention keeps what attention-fusion, product-finish-fusion and
// dot-operand-narrowing make, too.
std::unique_ptr<Pass> CreateLegalize(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
