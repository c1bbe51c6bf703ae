// The toy target, for tests.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "interpreter/interpreter.h"
#include "ir/module.h"

namespace hlokit {

// Compiles the module and runs it on as many devices as its header says, each of which gets the
// same arguments. Gives each device's result. `options` are those of the interpreter, which
// computes what has no kernel. Errors: Unimplemented for types that no kernel is emitted for;
// those of passes, BufferAssignment and the interpreter.
absl::StatusOr<std::vector<Literal>> RunOnToy(std::unique_ptr<Module> module,
                                              absl::Span<const Literal* const> arguments,
                                              const InterpreterOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
