// Which row computations can be written in vectors, and how vectors lie in their arrays.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "analysis/fusion_limits.h"
#include "analysis/row_form.h"

namespace hlokit {

// Vectors cover neighbours in memory (pieces of one row, or elements of neighbouring columns), or
// an element each of neighbouring rows, where rows are shorter than vectors.
struct RowLanes {
  bool across_rows = false;  // an element each of neighbouring rows, which are the lanes' columns
  DimVector dims;            // the fastest dimensions, slowest first, which are walked as one
  int64_t count = 1;         // elements in them
  DimVector outer;           // a row's dimensions that are not among them, slowest first
  // Truth values of places alone (a causal mask: row >= column) and the integers that they are made
  // of, of the size of all rows or smaller: their iotas give vectors of numbers. Iotas of all rows
  // whose numbers are selected (argmax) too.
  absl::flat_hash_set<const Instruction*> masks;
};

// How the work of `members` (those of `form`, operands before users) on whole rows goes in vectors;
// nothing if some of it does not.
std::optional<RowLanes> FindRowLanes(const RowForm& form,
                                     absl::Span<const Instruction* const> members,
                                     const RowLaneLimits& limits = {});

// True for functions of many steps.
bool IsCostly(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
