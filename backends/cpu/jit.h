// Machine code from LLVM modules: optimisation, code generation in parallel, linking into this
// process.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/module_emitter.h"

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

// Compiles the parts of `emitted` on as many threads. opt_level: 0 to 3. Where dump_to is not
// empty, the IR before and after optimisation and the assembly go there.
absl::StatusOr<std::unique_ptr<JitCode>> CompileToJit(EmittedModule emitted, int opt_level,
                                                      const std::string& dump_to);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
