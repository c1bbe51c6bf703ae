// A module as a list of steps over its buffers: what is left to do before a target writes code.
//
// A target compiles a module in three parts: BufferAssignment gives every array its place,
// MakeProgram lists what has to run, in order, and the target turns each step into what it can
// execute. The CPU makes one function of all steps; a GPU launches them one by one. For example
//
//   a = f32[4] negate(p)
//   t = (f32[4], f32[4]) tuple(a, p)
//   ROOT s = f32[4] sort(a)
//
// is two steps: a kernel (negate) and a library call (sort). The tuple only names other arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "analysis/buffer_assignment.h"
#include "ir/module.h"

namespace hlokit {

// What computes a step.
enum class StepKind : uint8_t {
  kKernel,       // code that the target generates for this instruction or fusion
  kLibrary,      // one function of the target's runtime: dot, convolution, sort, ...
  kCollective,   // all devices of a group together: all-reduce, send, recv-done, ...
  kHost,         // the host: infeed, outfeed, custom calls, and what the target has no code for
  kDeviceId,     // replica-id and partition-id, which the run knows from the start
  kWhile,        // a loop over two other lists of steps
  kConditional,  // one of several other lists of steps
  kCall,         // another list of steps
};
inline constexpr int kNumStepKinds = 8;
// As printed: "kernel", "library", "device-id", ...
absl::string_view Text(StepKind kind);

// One thing that the program does. All arrays are slices of the buffer assignment.
struct Step {
  StepKind kind = StepKind::kKernel;
  const Instruction* instruction = nullptr;
  // Where the leaves of all operands and of the result lie: operand by operand, depth first. Slices
  // of kind kNone (tokens, arrays without elements) keep their positions.
  std::vector<Slice> operands, results;
  // Indices into Program::sequences. kWhile: the condition, then the body; kConditional: the
  // branches; kCall: the callee. Empty for all others.
  std::vector<int32_t> bodies;
  // kWhile: the pred[] that the condition computes. kConditional: the pred[] (branch 0 where it is
  // true) or s32[] (out of range: the last branch) that chooses. kNone for all others.
  Slice selector;
  // kWhile: copies of the initial values to the loop's state, before the condition first runs.
  std::vector<BufferCopy> copies;
};

// The steps of one computation, to be executed in this order.
struct StepSequence {
  const Computation* computation = nullptr;
  std::vector<Step> steps;
  // After the last step. Entry: results to the caller's buffers; body of a while: the next state to
  // the state; branch of a conditional: its result to the conditional's. All reads come before all
  // writes, by way of BufferCopy::staging where it is there.
  std::vector<BufferCopy> copies;
};

struct Program {
  // Element 0 is the entry computation. A computation that runs has one caller
  // (flatten-call-graph), so each sequence belongs to one step.
  std::vector<StepSequence> sequences;

  const StepSequence& entry() const { return sequences[0]; }
};

// True for instructions without a step: parameters, constants, tuples, and others that only name
// arrays which exist already (bitcast, after-all, recv, ...).
bool OnlyNamesArrays(const Instruction& instruction);

// What a target computes an instruction by: kKernel, kLibrary, kCollective or kHost. Asked once for
// each instruction that runs, but not for control flow and device ids.
using TargetStepKind = absl::FunctionRef<StepKind(const Instruction&)>;

// The steps of `module`. Preconditions: as BufferAssignment::Make, whose result for `module` this
// is. Instructions without side effects whose results have no elements are left out. Pointers of
// the program are into `module`. Cost: linear in instructions and operands.
Program MakeProgram(const Module& module, const BufferAssignment& buffers, TargetStepKind kind_of);

// A line a step, for people: kind, opcode, name, operands and results as BUFFER[BEGIN:END], in
// bytes. Sequences that a step runs are indented below it.
std::string ProgramText(const Program& program);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
