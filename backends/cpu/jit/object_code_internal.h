// Object code from LLVM modules: LLVM's passes over the IR, then its code generator.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/jit/compile_progress_internal.h"
#include "backends/cpu/jit/jit_options.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

namespace hlokit {

// The object of one part, and what it took.
struct CompiledObject {
  std::unique_ptr<llvm::MemoryBuffer> code;
  double optimize_s = 0, generate_s = 0;
  std::vector<FunctionTime> slowest;  // as in JitStats
  bool cached = false;
  absl::Status kept;  // why options.cache_dir did not take it
};

// Compiles one part for this machine and drops its module; takes it from options.cache_dir where it
// is there. `number` names the part's files in options.dump_to (partN.ir-no-opt.ll, ...).
// `progress` may be null.
absl::StatusOr<CompiledObject> CompileObject(EmittedModule::Part& part, const JitOptions& options,
                                             size_t number, CompileProgress* progress);

using ObjectBytes = llvm::SmallVector<char, 0>;

// The object of a module for any machine, which its triple and data layout must be those of; the
// module is changed. opt_level: 0 to 3.
absl::StatusOr<ObjectBytes> CompileForMachine(llvm::Module& module, llvm::TargetMachine& machine,
                                              int opt_level);

// Compiles a module for nothing but LLVM's tables, as far as it gets while `wanted` says so.
void TryCompiler(llvm::Module& module, llvm::TargetMachine& machine,
                 const std::function<bool()>& wanted);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
