// Whether passes keep the values of a module: it is evaluated on the interpreter before and after.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "interpreter/interpreter.h"
#include "ir/module.h"
#include "tools/common/inputs.h"
#include "types/compare.h"

namespace hlokit {

struct ValueCheckOptions {
  InputOptions inputs;
  CompareOptions bounds;
  double time_limit_s = 60;  // of one evaluation
};

// Follows one module through its passes. All evaluations take the same arguments; where a pass cuts
// the entry's parameters for partitions, each device from then on takes and gives its shards. A
// copy goes on from where the original stands.
class ValueCheck {
 public:
  // Evaluates `module` as it stands. Errors: where it cannot be evaluated; of inputs that do not
  // fit.
  static absl::StatusOr<ValueCheck> Start(const Module& module, const ValueCheckOptions& options);

  // Evaluates it after a change and compares with the module's results as it stood before; from now
  // on `module` is what the next change is compared with. Errors: Aborted, saying which result
  // differs by how much and which instruction is the first that does; what evaluation fails with.
  absl::Status Check(const Module& module);

  // The module as it stood before the change that the last Check refused.
  const Module& before() const { return *before_; }

 private:
  explicit ValueCheck(const ValueCheckOptions& options) : options_(options) {}
  absl::StatusOr<std::vector<Literal>> Evaluate(const Module& module) const;
  InterpreterOptions Limits() const;
  // Compares with parts of whole arrays from here on.
  absl::Status Partition(const ShardedEntry& sharded);
  std::string FirstDifference(const Module& after) const;

  ValueCheckOptions options_;
  int64_t devices_ = 1;
  int64_t partitions_ = 0;  // instead of what the module says, where it stands before partitioning
  std::shared_ptr<const Arguments> arguments_;
  std::shared_ptr<const Module> before_;
  std::vector<Literal> results_;  // of `before_`, by device
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
