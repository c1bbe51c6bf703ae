// The ways that an array takes through a module without being computed with.
#pragma once

#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace hlokit {

// The frontend attribute that says where an instruction runs: "host", ...
inline constexpr absl::string_view kComputeType = "_xla_compute_type";

// An array within what an instruction gives.
struct ValuePlace {
  Instruction* instruction;
  ShapeIndex index;
  bool operator==(const ValuePlace&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const ValuePlace& p) {
    return H::combine(std::move(h), p.instruction, p.index);
  }
};

// Where a place is passed on: operand `operand` of `user` reads it, and `to` is the place that
// holds it then: of the user, or of a parameter of a function that the user calls. `user` is null
// where a root hands it to `to`, which calls the root's computation.
struct PathStep {
  Instruction* user;
  int64_t operand;
  ValuePlace to;
};

// All steps onward from a place. An instruction that computes with the array is a step too, to its
// own result; calls of other targets than the moves are, where they say that they alias the
// operand.
std::vector<PathStep> StepsFrom(const ValuePlace& place);

// The steps that lead to a place, with the places that they come from in `to`: of an instruction
// that writes into its first operand, that one. `user` is null where the root of a function hands
// the array to its caller. Empty where the instruction makes the array itself.
std::vector<PathStep> StepsTo(const ValuePlace& place);

// Instructions that hold arrays of the host without computing with them.
bool HoldsOnly(const Instruction* i);

// The shape at a place; null where the instruction gives no such array, or without a layout.
Shape* ArrayAt(const ValuePlace& place);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
