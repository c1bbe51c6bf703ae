// The first instruction whose value is wrong: by comparison of two sides, or by what it is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/progress.h"
#include "tools/probe/walk.h"
#include "types/compare.h"

namespace hlokit {

// What counts as wrong.
struct FaultKind {
  enum Kind : uint8_t {
    kDiffers,    // beyond `compare` between the two sides
    kNan,        // a NaN that no operand held
    kNotFinite,  // an infinity (or NaN) that no operand held
  };
  Kind kind = kDiffers;
  CompareOptions compare;
};

// The first wrong value in execution order, and a program that shows it.
struct Fault {
  CallPath path;
  const Instruction* instruction = nullptr;  // of the module searched
  std::unique_ptr<Module> module;            // computes it from `inputs`
  std::vector<Literal> inputs;               // the reference's values
  CompareResult difference;                  // of the two results of `module`; of kDiffers
  std::string value;                         // the element, of the other kinds
  // How much of what stands before the instruction the module needs to show it: 0 the instruction
  // alone, n so many operands deep, -1 all.
  int height = 0;
  // What a caller's fault comes to where nothing that it calls is wrong by itself.
  std::string remark;
};

// Searches for the first wrong value, on one device. The entry's instructions are compared in
// execution order; where the first wrong one calls computations and is wrong alone, the search goes
// on inside, with the values that the reference gives: round by round in loops. For other kinds
// than kDiffers the reference is `test` itself. Empty where nothing is wrong. Costs a few
// compilations and runs a level, and a run of a body for every round.
absl::StatusOr<std::optional<Fault>> FindFirstFault(const Module& module,
                                                    absl::Span<const Literal* const> arguments,
                                                    const Side& reference, const Side& test,
                                                    const FaultKind& kind,
                                                    const ProgressCallback& progress = nullptr);

// True where an element is NaN (`infinities`: or infinite); `where` becomes its text, `nan at
// [1,2]`.
bool HoldsNan(const Literal& value, bool infinities, std::string* where = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
