// What compiling to machine code is asked for, and what it took.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "codegen/llvm.h"
#include "support/progress.h"

namespace hlokit {

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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
