// A computation that has been built: what reducers, bodies and branches are, and what a client
// compiles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

// Parameters by number, and the result; layouts as the computation states them.
struct ProgramShape {
  // By number; names as the computation has them.
  std::vector<Shape> parameters;
  std::vector<std::string> parameter_names;
  Shape result;
  bool operator==(const ProgramShape&) const = default;
};

// Immutable and cheap to copy; copies share one module. Default-constructed: no computation.
class XlaComputation {
 public:
  XlaComputation() = default;
  // Of a module that has been read or made elsewhere; it must have an entry computation.
  explicit XlaComputation(std::unique_ptr<Module> module) : module_(std::move(module)) {}

  // Whether there is none.
  bool IsNull() const { return module_ == nullptr; }
  // Empty where there is no computation.
  const std::string& name() const;
  // Precondition: not null.
  const Module& module() const { return *module_; }
  const std::shared_ptr<const Module>& shared_module() const { return module_; }
  // A copy to compile or change; null where there is no computation.
  std::unique_ptr<Module> CloneModule() const { return module_ ? module_->Clone() : nullptr; }
  // Errors: InvalidArgument where there is no computation.
  absl::StatusOr<ProgramShape> GetProgramShape() const;

 private:
  std::shared_ptr<const Module> module_;
};

// Parameters and result of one computation. Errors: InvalidArgument where a parameter's number is
// missing or there is no root.
absl::StatusOr<ProgramShape> ProgramShapeOf(const Computation& computation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
