// flatten-call-graph: every computation that while, conditional, call or async-start runs gets one
// caller.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// Matches computations with several callers; leaves a copy for each further caller behind. Cost:
// the size of the copies, which grow with every level of sharing (refused above
// kMaxFlattenedInstructions).
inline constexpr int64_t kMaxFlattenedInstructions = 500'000;

class FlattenCallGraph : public Pass {
 public:
  absl::string_view name() const override { return "flatten-call-graph"; }
  absl::StatusOr<bool> Run(Module& module) override;
};

std::unique_ptr<Pass> CreateFlattenCallGraph();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
