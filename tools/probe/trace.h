// Values of instructions anywhere in a program, and instructions cut out with the values they read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/probe/walk.h"
#include "types/compare.h"

namespace hlokit {

// Gives `sink` every value of the instructions that `wanted` names, in execution order, on one
// device: in loops one a round. Names are paths, `while.3[2]/add.5`.
absl::Status Trace(const Side& side, const Module& module,
                   absl::Span<const Literal* const> arguments,
                   const std::function<bool(const Instruction&)>& wanted,
                   const std::function<absl::Status(std::string name, Literal value)>& sink);

// An instruction as a program of its own, and what it read.
struct Isolated {
  CallPath path;
  std::unique_ptr<Module> module;
  std::vector<Literal> inputs;
};

// Cuts `instruction` (of an asynchronous start, all up to its done) out, `height` operands deep
// (see Extract), with the values of the run of its computation number `run` (0: the first).
// NotFound where the program has no such run.
absl::StatusOr<Isolated> Isolate(const Side& side, const Module& module,
                                 absl::Span<const Literal* const> arguments,
                                 const Instruction& instruction, int64_t run, int height);

// An instruction without its metadata and configuration.
std::string ShortText(const Instruction& instruction);

// One row of the table that --isolate-instructions prints; states are XLA's words.
struct IsolationResult {
  enum State : uint8_t {
    kMatched,
    kMismatch,
    kRan,
    kSkipped,
    kDidNotRun,
    kCompileError,
    kRunError
  };
  State state = kDidNotRun;
  std::vector<std::string> instructions;  // names of equal ones, the first of them run
  std::string text;                       // of the first
  std::string detail;                     // the difference, or the error
};
absl::string_view Text(IsolationResult::State state);

using InstructionPredicate = std::function<bool(const Instruction&)>;

// Runs each distinct instruction by itself on both sides, with the values that `reference` gives
// its operands where it first runs, and compares. Fusions, loops and the like are run whole, and
// what loops, calls and branches run by itself as well. Without `test.client` nothing is compared.
// Instructions that `wanted` refuses are left out; empty: none are.
absl::StatusOr<std::vector<IsolationResult>> IsolateAll(const Side& reference, const Side& test,
                                                        const Module& module,
                                                        absl::Span<const Literal* const> arguments,
                                                        const CompareOptions& compare,
                                                        const ProgressCallback& progress,
                                                        const InstructionPredicate& wanted = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
