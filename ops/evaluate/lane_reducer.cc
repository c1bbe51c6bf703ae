// One opcode runs as its kernel, any other computation as a program or call by call.
#include "ops/evaluate/lane_reducer.h"

#include "ops/evaluate/reducer.h"
#include "ops/evaluate/values.h"

namespace hlokit {

Reducer::Reducer(const Computation& computation, const CallComputation& call, int64_t lanes) {
  if (std::optional<Opcode> opcode = SimpleReducer(computation)) {
    const ElementType type = computation.root()->shape().type;
    kernel_ = KernelCall{BinaryKernelFor(*opcode, type), type, type};
    rounds_ = RoundsSteps(*opcode, type);
  }
  if (!simple()) function_.emplace(computation, call, lanes);
}

absl::Status Reducer::Combine(absl::Span<void* const> accumulators,
                              absl::Span<const void* const> elements, int64_t n) {
  in_.assign(accumulators.begin(), accumulators.end());
  in_.insert(in_.end(), elements.begin(), elements.end());
  if (!simple()) return function_->Run(in_, accumulators, n);
  kernel_.run(kernel_, in_.data(), accumulators[0], n);
  if (rounds_) RoundWide(kernel_.out, accumulators[0], n);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
