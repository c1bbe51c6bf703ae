// What gather and scatter share: index vectors, and the windows they point at.
#pragma once

#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

// A gather or scatter without batching dimensions: their indices stand in the index vectors.
struct PlainGather {
  Instruction* indices;
  GatherAttrs attrs;
};
struct PlainScatter {
  Instruction* indices;
  ScatterAttrs attrs;
};
// Appends an iota to the indices for each batching dimension; nothing where there is none.
PlainGather WithoutBatching(const Instruction& gather, HloWriter& w);
PlainScatter WithoutBatchingOfScatter(const Instruction& scatter, HloWriter& w);

// How many index vectors there are.
int64_t IndexVectorCount(const Shape& indices, int64_t index_vector_dim);
// All index vectors as rows of a matrix, in row-major order of their dimensions.
Instruction* IndexRows(HloWriter& w, Instruction* indices, int64_t index_vector_dim);
// Row i (null: of one row) of a matrix as a list.
Instruction* RowOf(HloWriter& w, Instruction* rows, Instruction* i);
// Where a window begins in an operand of `rank` dimensions: parts of the row, zero elsewhere.
std::vector<Instruction*> WindowStart(HloWriter& w, Instruction* row,
                                      absl::Span<const int64_t> index_map, int64_t rank);
// Part i (null: the only one) of dimension 0 of x, without that dimension; and x with it replaced.
Instruction* PartOf(HloWriter& w, Instruction* x, Instruction* i);
Instruction* WithPart(HloWriter& w, Instruction* x, Instruction* part, Instruction* i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
