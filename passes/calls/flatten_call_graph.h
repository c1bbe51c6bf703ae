// flatten-call-graph: every computation gets one caller.
#pragma once

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"

namespace hlokit {

// Matches computations with several callers; gives each further caller a copy. Cost:
// the size of the copies, which grow with every level of sharing (refused above
// kMaxFlattenedInstructions).
inline constexpr int64_t kMaxFlattenedInstructions = 500'000;

// Functions of reduce and the like stay shared where `running_only`: then it is those that while,
// conditional, call and async-start run that get one caller (option `running`).
class FlattenCallGraph : public Pass {
 public:
  explicit FlattenCallGraph(bool running_only = true) : running_only_(running_only) {}
  absl::string_view name() const override { return "flatten-call-graph"; }
  absl::StatusOr<bool> Run(Module& module) override;

 private:
  const bool running_only_;
};

std::unique_ptr<Pass> CreateFlattenCallGraph(PassArguments& arguments);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
