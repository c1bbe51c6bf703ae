// Walks through an execution: into loops round by round, calls, branches and fusions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "tools/probe/program.h"

namespace hlokit {

// A computation's run as seen from the entry: which instruction called it, and in which round of a
// loop (-1: no loop).
struct CallPathStep {
  const Instruction* caller = nullptr;
  int64_t round = -1;
};
using CallPath = std::vector<CallPathStep>;
std::string Text(const CallPath& path);  // `while.3[2]/call.1/`; empty in the entry

// True for the opcodes whose computations ForEachRun can run on its own.
bool RunsComputations(Opcode opcode);  // while, conditional, call, fusion

// Runs what `caller` calls, on the values of its operands: every round of a loop, the branch taken.
// `visit` sees each run of a computation before it happens, with its arguments; false ends the
// walk.
using VisitRun = std::function<absl::StatusOr<bool>(const Computation&, int64_t round,
                                                    absl::Span<const Literal* const> arguments)>;
absl::Status ForEachRun(const Side& side, const Instruction& caller,
                        absl::Span<const Literal* const> operands, const VisitRun& visit);

// The computations that contain an instruction that `wanted` names, or run one that does.
using ComputationSet = absl::flat_hash_set<const Computation*>;
ComputationSet ComputationsWith(const Module& module,
                                const std::function<bool(const Instruction&)>& wanted);

// Walks from the entry through all runs of the computations of `into`, callers first. `visit` gets
// each run; false ends the walk.
using VisitPath = std::function<absl::StatusOr<bool>(const CallPath&, const Computation&,
                                                     absl::Span<const Literal* const> arguments)>;
absl::Status WalkRuns(const Side& side, const Module& module,
                      absl::Span<const Literal* const> arguments, const ComputationSet& into,
                      const VisitPath& visit);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
