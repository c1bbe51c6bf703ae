// Names and shapes of built computations.
#include "builder/xla_computation.h"

#include "support/status.h"

namespace hlokit {

const std::string& XlaComputation::name() const {
  static const auto* none = new std::string;
  return module_ ? module_->name() : *none;
}

absl::StatusOr<ProgramShape> XlaComputation::GetProgramShape() const {
  if (IsNull()) return InvalidArgument("there is no computation");
  return ProgramShapeOf(*module_->entry());
}

absl::StatusOr<ProgramShape> ProgramShapeOf(const Computation& computation) {
  ProgramShape shape;
  for (int64_t p = 0; p < computation.parameter_count(); ++p) {
    const Instruction* parameter = computation.parameter(p);
    if (parameter == nullptr)
      return InvalidArgument("computation ", computation.name(), " has no parameter ", p, " of ",
                             computation.parameter_count());
    shape.parameters.push_back(parameter->shape());
    shape.parameter_names.push_back(parameter->name());
  }
  if (computation.root() == nullptr)
    return InvalidArgument("computation ", computation.name(), " has no instruction to return");
  shape.result = computation.root()->shape();
  return shape;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
