// Machine code from LLVM modules: optimisation, code generation in parallel, linking into this
// process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/host_program/module_emitter.h"
#include "support/progress.h"

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

struct JitOptions {
  int opt_level = 2;      // 0 to 3
  std::string dump_to;    // folder for the IR before and after optimisation and objects, or empty
  std::string cache_dir;  // folder of objects compiled before, or empty
  // Changes the code after LLVM's passes over the IR; called from several threads. May be empty.
  std::function<void(llvm::Module&)> after_passes;
  ProgressCallback progress;  // of the stage "compile", from any thread; may be empty
};

// What LLVM took for one function.
struct FunctionTime {
  std::string name;
  double seconds;
};

// What the parts took, all added up, and how many came from the cache.
struct JitStats {
  double optimize_s = 0, generate_s = 0, link_s = 0;
  std::vector<FunctionTime> slowest;  // to compile, longest first; at most kSlowestFunctions
  int64_t objects = 0, cached_objects = 0;
  absl::Status kept;  // why an object did not go to the cache
};

inline constexpr size_t kSlowestFunctions = 20;

// Compiles the parts of `emitted` on as many threads.
absl::StatusOr<std::unique_ptr<JitCode>> CompileToJit(EmittedModule emitted,
                                                      const JitOptions& options, JitStats& stats);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
