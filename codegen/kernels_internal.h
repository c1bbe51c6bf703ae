// The kinds of loop kernels; each fills `out`, or leaves it alone where it does not apply.
#pragma once

#include "codegen/domain_loop.h"
#include "codegen/expression.h"
#include "codegen/kernels.h"

namespace hlokit {

using InPlace = std::function<bool(int64_t, int64_t)>;

// Binds the expression's leaves to the kernel's operand arrays.
void BindLeaves(ElementEmitter& emitter, const Expression& expression, KernelArrays& arrays);

// dynamic-update-slice roots: the untouched part is copied (or lies there already), then the window
// is written.
bool AddUpdateKernels(const Expression& expression, const InPlace& in_place,
                      std::vector<Kernel>& out);
// Slices of up to 256 KiB that lie together in memory: copied where they run.
bool AddSliceCopy(const Expression& expression, std::vector<Kernel>& out);
// Conversions of bits between types of other widths: the same bytes.
bool AddBitcastCopy(const Expression& expression, std::vector<Kernel>& out);
// The same for a part of a concatenation along `dimension`, which begins at `start` of it.
bool AddPartCopy(const Expression& expression, const Instruction* part, int64_t dimension,
                 int64_t start, std::vector<Kernel>& out);
// concatenate roots: one loop an operand.
bool AddConcatenateKernels(const Expression& expression, std::vector<Kernel>& out);
// pad roots whose rows are of some length: the edges, then the operand's elements.
bool AddPadKernels(const Expression& expression, std::vector<Kernel>& out);
// Roots over reductions whose fastest dimension is kept: running values of a tile side by side.
bool AddColumnReduceKernels(const Expression& expression, std::vector<Kernel>& out);
// Reductions of rows with work on the same rows after them, several passes a row.
bool AddRowKernels(const Expression& expression, std::vector<Kernel>& out);
// Reductions of plain arrays of bf16 or f16 whose steps round.
bool AddBlockFoldKernels(const Expression& expression, std::vector<Kernel>& out);
// Cumulative sums and the like, which text has as a reduce-window.
bool AddScanKernels(const Expression& expression, std::vector<Kernel>& out);
// Batches of small dots.
bool AddSmallDotKernels(const Expression& expression, std::vector<Kernel>& out);
// scatter and select-and-scatter roots.
bool CanEmitScatter(const Instruction& scatter);
bool AddScatterKernels(const Expression& expression, const InPlace& in_place,
                       std::vector<Kernel>& out);
// Everything else: a loop over the elements of the roots.
void AddElementKernels(const Expression& expression, std::vector<Kernel>& out);

// Copies the whole of one array onto another of the same memory order.
Kernel CopyKernel(int64_t operand, int64_t result_leaf, const Shape& shape);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
