// The search for a small module that still shows what is being looked for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/hlo-reduce/interest.h"

namespace hlokit {

struct ReduceOptions {
  int jobs = 1;               // commands that run at a time
  double time_limit_s = 600;  // of the whole search; then the smallest so far is the answer
  // Hears of each smaller module; an error ends the search.
  std::function<absl::Status(const Module&, absl::string_view what)> smaller;
};

// Takes a called computation for the whole, leaves out instructions of the entry, then of called
// computations, puts called bodies in the places of their callers, takes values out of loops, makes
// shapes smaller and takes annotations away, for as long as that helps: delta debugging. The result
// is valid and interesting, as `module` must be.
absl::StatusOr<std::unique_ptr<Module>> Reduce(std::unique_ptr<Module> module, Interest& interest,
                                               const ReduceOptions& options);

// The same of a module that is too large to be tried whole: of a first part, an instruction with
// few of its operands and small shapes, that is interesting. Null where no such part is.
absl::StatusOr<std::unique_ptr<Module>> ReduceParts(std::unique_ptr<Module> module,
                                                    Interest& interest,
                                                    const ReduceOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
