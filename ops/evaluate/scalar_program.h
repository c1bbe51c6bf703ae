// Scalar computations (reducers, comparators, combiners, map bodies) run on lanes of widened
// values.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ops/evaluate/kernels.h"
#include "ops/infer/op_table.h"

namespace hlokit {

// A computation of scalars as a list of kernels over registers of up to `lanes` values each.
class ScalarProgram {
 public:
  // Null where some instruction is not a scalar elementwise one; calls and fusions are inlined.
  static std::unique_ptr<ScalarProgram> Compile(const Computation& computation, int64_t lanes) {
    return CompileValue(computation, *computation.root(), lanes);
  }
  // The same, for the value of one instruction of the computation.
  static std::unique_ptr<ScalarProgram> CompileValue(const Computation& computation,
                                                     const Instruction& value, int64_t lanes);

  // in[p] holds n widened values of parameter p, n <= lanes.
  void Run(absl::Span<const void* const> in, int64_t n);
  // The values of result i after Run (a tuple root has several).
  const void* result(int i) const { return values_[results_[i]]; }
  int result_count() const { return static_cast<int>(results_.size()); }

 private:
  using Slots = std::vector<int>;  // of an instruction: one, or one an element of a tuple
  struct Step {
    KernelCall call;
    int in[3];
    int out;
  };
  explicit ScalarProgram(int64_t lanes) : lanes_(lanes) {}
  std::optional<Slots> Add(const Computation& computation, const Instruction& value,
                           absl::Span<const Slots> arguments, int depth);
  std::optional<Slots> AddInstruction(const Instruction& instruction,
                                      absl::Span<const Slots> operands,
                                      absl::Span<const Slots> arguments, int depth);
  int NewRegister();
  int AddConstant(const Literal& literal);

  int64_t lanes_;
  int parameter_count_ = 0;
  std::vector<const void*> values_;  // by slot; parameters first
  std::vector<std::unique_ptr<Complex[]>> registers_;
  std::vector<Step> steps_;
  Slots results_;
};

// A scalar computation as a function on lanes: a program where it compiles, else a call a lane.
class LaneFunction {
 public:
  LaneFunction(const Computation& computation, const CallComputation& call, int64_t lanes);
  // Writes n widened values of each result to out[i]; out may alias in.
  absl::Status Run(absl::Span<const void* const> in, absl::Span<void* const> out, int64_t n);

 private:
  absl::Status CallEachLane(absl::Span<const void* const> in, absl::Span<void* const> out,
                            int64_t n);

  const Computation& computation_;
  const CallComputation& call_;
  std::unique_ptr<ScalarProgram> program_;
  std::vector<ElementType> result_types_;
};

// The number of the parameter that is the root, where it is one.
std::optional<int64_t> ReturnedParameter(const Computation& computation);

// Element types of a computation's result: one, or one an element of a tuple.
std::vector<ElementType> ResultTypes(const Computation& computation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
