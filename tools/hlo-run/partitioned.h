// Modules that were dumped before partitioning, partitioned before they run.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/common/sharded_entry.h"
#include "tools/hlo-run/options.h"

namespace hlokit {

// Whether the module says how several devices share its arrays and is not partitioned yet: it has
// manual regions, or runs on several partitions, states shardings that cut, and nowhere
// communicates.
bool IsUnpartitioned(const Module& module);

// A module that each device runs on its own shards.
struct PartitionedRun {
  std::unique_ptr<Module> module;  // null: run as it is, or taken from here
  bool active = false;             // the devices hold shards
  ShardedEntry cuts;
  Shape whole;  // of the result
};

// Propagates the shardings of a module that IsUnpartitioned and partitions a copy of it, where
// --partition asks for that and no other flag looks into the program or chooses its passes. Where
// the partitioner has no rule for an instruction, `why` says so and nothing is partitioned, or that
// is the error with --partition=yes. Errors: of the passes.
absl::StatusOr<PartitionedRun> PartitionForRun(const Module& module, const RunOptions& options,
                                               std::string& why);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
