// The table that ties each opcode of ir/ops.def to its inference and evaluation functions.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ops/op_view.h"

namespace hlokit {

class FfiStates;
struct FfiRun;

// Runs a computation on arguments and gives its result; what ops that call computations receive.
using CallComputation = std::function<absl::StatusOr<Literal>(
    const Computation&, absl::Span<const Literal* const> arguments)>;

// What evaluation sees of one instruction.
struct EvalContext {
  const Instruction& instruction;
  absl::Span<const Literal* const> operands;
  const CallComputation& call;
  // Which device runs (replica-id, partition-id, and what the executor hands to collectives).
  int64_t replica = 0, partition = 0;
  // Runs a collective, send/recv, infeed/outfeed with the other devices; null on a single device
  // without queues.
  std::function<absl::StatusOr<Literal>(const EvalContext&)> communicate;
  int64_t partitions = 1;  // how many there are
  // For custom calls (ffi/surroundings.h); null: none.
  FfiStates* ffi_states = nullptr;
  const FfiRun* ffi_run = nullptr;
};

// The shape of the result (with default or operand-derived layout left out: inference gives no
// layouts).
absl::StatusOr<Shape> InferShape(const OpView& op);
// InferShape of an instruction that exists, its own shape being the declared one.
absl::StatusOr<Shape> InferShape(const Instruction& instruction);
// The value, by the reference meaning. Errors: Unimplemented names the op; InvalidArgument for bad
// values.
absl::StatusOr<Literal> Evaluate(const EvalContext& context);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
