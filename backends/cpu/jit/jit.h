// Machine code from LLVM modules: optimisation, code generation in parallel, linking into this
// process.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/jit/jit_options.h"

namespace hlokit {

// The machine that we run on, as triple and data layout for EmitOptions.
struct HostTarget {
  std::string triple, data_layout;
};
absl::StatusOr<HostTarget> FindHostTarget();

// Code in this process; released with the object.
class JitCode {
 public:
  using Entry = void (*)(void* context, char* arena, const void* const* table);
  virtual ~JitCode() = default;
  virtual Entry entry() const = 0;
  virtual int64_t code_bytes() const = 0;
};

// Compiles the parts of `emitted` on as many threads.
absl::StatusOr<std::unique_ptr<JitCode>> CompileToJit(EmittedModule emitted,
                                                      const JitOptions& options, JitStats& stats);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
