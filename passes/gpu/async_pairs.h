// Asynchronous pairs as XLA's GPU compiler makes them of single instructions.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/module.h"

namespace hlokit {

// The frontend attribute that joins instructions into one asynchronous group.
inline constexpr absl::string_view kSchedulingGroup = "_scheduling_group_id";

// What becomes of an instruction that runs asynchronously.
struct AsyncPairOptions {
  absl::Span<const Shape> contexts;  // parts of the start's shape after operands and result
  absl::string_view thread;          // empty: main
};

// Puts async-start and async-done in the place of `i`, around a computation that holds a copy of
// it; `i` is gone then. The pair takes its metadata, configuration and control edges, and is named
// after its opcode: call-start, call-done. Gives the done.
Instruction* ReplaceByAsyncPair(Instruction* i, const AsyncPairOptions& options);

// async-start of `body` on `operands`, and its done of `result`: named `name`-start and
// `name`-done. Gives the done.
Instruction* AddAsyncPair(Computation& c, Computation* body,
                          absl::Span<Instruction* const> operands, const Shape& result,
                          const AsyncPairOptions& options, absl::string_view name);

// Control edges into `old` lead into `start`, those out of it leave `done`; `old` has none then.
void MoveControlEdges(Instruction* old, Instruction* start, Instruction* done);

// Takes a frontend attribute off; true if it was there.
bool DropFrontendAttribute(Instruction& i, absl::string_view name);

// True for the computations that fusions and what they call run, by id.
std::vector<bool> ComputationsOfFusions(const Module& module);
// True for those that async-starts call, by id.
std::vector<bool> ComputationsOfStarts(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
