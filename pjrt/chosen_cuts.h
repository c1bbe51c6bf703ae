// How arguments, results and values of a program are cut where the framework leaves it open.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "pjrt/objects.h"

namespace hlokit {

// The cuts that the module states, for `count` partitions. Errors: shardings that do not fit.
absl::StatusOr<PjrtPartitions> StatedPartitions(const Module& module, int64_t count);

// Where the options allow it, arguments and results are cut as follows from what is stated.
// Programs that the propagation cannot handle stay as they are stated.
void ChooseCuts(const Module& module, const PjrtCompileOptions& options, PjrtPartitions& cuts);

// A copy of the module, good for reading shardings only, in which they are spread as the header
// allows. Errors: the propagation's.
absl::StatusOr<std::unique_ptr<Module>> SpreadCopy(const Module& module,
                                                   const PjrtCompileOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
