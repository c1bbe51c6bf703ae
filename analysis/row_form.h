// Row computations: reductions along rows of an array, and work on the same rows before, between
// and after them (softmax, layer norm). One pass over a row after another computes them while the
// row is in the nearest cache. A row is what one result of a reduction sees: it may lie together,
// in pieces, or as a column among contiguous columns.
#pragma once

#include <optional>
#include <vector>

#include "ir/instruction.h"

namespace hlokit {

struct RowForm {
  Shape full;        // the array whose rows are reduced, row-major
  DimVector kept;    // its dimensions that number the rows, slowest first
  DimVector within;  // its dimensions that a row spans, slowest first; none of either is of size 1
  int64_t rows = 1;
  int64_t length = 1;  // elements of a row
  // The reductions, operands before users, and the pass (from 0) that computes each.
  struct Reduction {
    const Instruction* reduce;
    int pass;
  };
  std::vector<Reduction> reductions;
  int passes = 1;  // the last one, after all reductions, computes full-size roots

  // True for a value with one element a row.
  bool IsRowShaped(const Shape& shape) const;
  // True for an array with as many elements as all rows have, in their order.
  bool IsFull(const Shape& shape) const;
  bool IsFullBroadcast(const Instruction& i) const;
  // True for a broadcast of what varies along rows.
  bool IsAlongRow(const Instruction& broadcast) const;
  // True for a broadcast of what has an element a row to that row.
  bool BroadcastKeepsRow(const Instruction& broadcast) const;
  // True if the fastest dimension is not reduced: rows are columns.
  bool IsColumns() const;
  // True if each row lies together.
  bool IsContiguous() const;
};

// The form of `members` (operands before users, what they read from memory left out), or nothing if
// they are no row computation: there must be a reduction, all must reduce the same rows, and
// whatever depends on one must keep to its row. Several elements a row and at least one reduction
// are wanted; whether it pays is for the caller to say.
// Reductions of up to `max_nested` elements that need no other one may be of any rows: they are
// none of the form's, but computed wherever an element of theirs is read.
std::optional<RowForm> FindRowForm(absl::Span<const Instruction* const> members,
                                   int64_t max_nested = 0);

// Whether partial results of a reduction's elements, in any order, can be combined into its result:
// one array, one operation, no rounding at each step.
bool CanRegroup(const Instruction& reduce);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
