// Object code from LLVM modules: LLVM's passes over the IR, then its code generator.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "codegen/module_emitter.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlokit {

// Compiles one part for this machine and drops its module. opt_level: 0 to 3. `stem`: where the IR
// before and after optimisation and the object go (stem.ir-no-opt.ll, ...); empty: nowhere.
absl::StatusOr<std::unique_ptr<llvm::MemoryBuffer>> CompileObject(EmittedModule::Part& part,
                                                                  int opt_level,
                                                                  const std::string& stem);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
