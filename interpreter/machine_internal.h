// One device of the reference executor: an explicit stack of computations being run.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "interpreter/collectives_internal.h"
#include "interpreter/options.h"
#include "interpreter/plan_internal.h"
#include "interpreter/value.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// What all devices of a run share.
struct RunState {
  const InterpreterOptions* options = nullptr;
  Collectives* collectives = nullptr;
  MemoryMeter meter = std::make_shared<std::atomic<int64_t>>(0);
  int64_t memory_limit = 0;
  // Those of the options, or the run's own.
  std::shared_ptr<FfiStates> ffi_states;
  std::shared_ptr<const FfiRun> ffi_run;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class Machine {
 public:
  Machine(const RunState& state, int64_t replica, int64_t partition, int64_t device);

  // Runs a computation to its end. Calls nest without recursion here; ops that run computations on
  // elements (a reduce with an unusual reducer) recurse, to a limited depth.
  absl::StatusOr<Value> Run(const Computation& computation, std::vector<Value> arguments);
  // One instruction by itself.
  absl::StatusOr<Literal> EvaluateOne(const Instruction& instruction,
                                      absl::Span<const Literal* const> operands);

 private:
  // A computation under way. The step at `at` is next, or waits for the frame above.
  struct Frame {
    const Plan* plan;
    std::vector<Value> arguments;
    std::vector<Value> values;  // by slot
    size_t at = 0;
    Value loop_state;  // of a while under way
    bool in_condition = false;
  };

  absl::Status Push(const Computation& computation, std::vector<Value> arguments);
  // Runs the next step of the top frame, or pushes the frame of a computation that it calls.
  absl::Status Step();
  absl::Status CallStep(Frame& frame, const PlanStep& step);
  // The top frame has ended with `result`: hands it to the step that waits below.
  absl::Status Return(Value result);
  absl::Status Finish(Frame& frame, Value value);
  absl::StatusOr<Value> EvaluateStep(Frame& frame, const PlanStep& step);
  absl::StatusOr<Value> EvaluateGeneric(Frame& frame, const PlanStep& step);
  absl::StatusOr<Value> UpdateInPlace(Frame& frame, const PlanStep& step, Literal& target);
  bool RunsInAsyncStart() const;
  absl::StatusOr<Literal> Communicate(const EvalContext& context);
  absl::StatusOr<Literal> TransferToHost(const EvalContext& context, Literal result);
  absl::Status CheckLimits(const Instruction& instruction);

  const RunState& state_;
  int64_t replica_, partition_, device_;
  PlanCache plans_;
  std::vector<std::unique_ptr<Frame>> frames_;
  CallComputation call_;
  int64_t steps_ = 0;
  int nesting_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
