// Steps of reductions, on lanes of widened values.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ops/evaluate/kernels.h"
#include "ops/evaluate/scalar_program.h"

namespace hlokit {

// Combines lanes of elements with lanes of accumulators. A computation of one opcode runs as that
// opcode's kernel on widened values, any other is evaluated. Steps round as ops/evaluate/reducer.h
// says.
class Reducer {
 public:
  Reducer(const Computation& computation, const CallComputation& call, int64_t lanes);
  // accumulators[i] = f(accumulators..., elements...) on n lanes.
  absl::Status Combine(absl::Span<void* const> accumulators, absl::Span<const void* const> elements,
                       int64_t n);
  // True if the reduction is one associative opcode.
  bool simple() const { return kernel_.run != nullptr; }
  // Rounds the result of each step to another float type, if the reduction is one opcode.
  void RoundStepsTo(ElementType type) {
    rounds_ = simple();
    kernel_.out = type;
  }
  // True if also any grouping of the elements gives the same result.
  bool regroups() const { return simple() && !rounds_; }

 private:
  KernelCall kernel_;
  bool rounds_ = false;
  std::optional<LaneFunction> function_;
  std::vector<const void*> in_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
