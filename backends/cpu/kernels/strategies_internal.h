// Kernel strategies of the CPU alone: vectors, tiles for its caches, copies by memcpy.
#pragma once

#include "codegen/iteration_space.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {

// Slices of up to 256 KiB that are contiguous in memory: copied where they run.
bool AddSliceCopy(const KernelRequest& request, std::vector<Kernel>& out);
// Conversions of bits between types of other widths: the same bytes.
bool AddBitcastCopy(const KernelRequest& request, std::vector<Kernel>& out);
// concatenate roots: operands that are contiguous in the result, up to 256 KiB, are copied where
// they run; one loop an operand for the others.
bool AddConcatenateWithCopies(const KernelRequest& request, std::vector<Kernel>& out);
// pad roots whose rows are of some length: the edges, then the operand's elements.
bool AddPadKernels(const KernelRequest& request, std::vector<Kernel>& out);
// Cumulative sums and the like, which text has as a reduce-window.
bool AddScanKernels(const KernelRequest& request, std::vector<Kernel>& out);
// Reductions of plain arrays of bf16 or f16 whose steps round.
bool AddBlockReductionKernels(const KernelRequest& request, std::vector<Kernel>& out);
// Batches of small dots.
bool AddSmallDotKernels(const KernelRequest& request, std::vector<Kernel>& out);
// Reductions of rows with work on the same rows after them, several passes a row.
bool AddRowKernels(const KernelRequest& request, std::vector<Kernel>& out);
// Roots over reductions whose fastest dimension is kept: the accumulators of a tile in vectors.
bool AddColumnReduceKernels(const KernelRequest& request, std::vector<Kernel>& out);
// Functions of many steps in rows that are no whole vectors: their operands first.
bool AddStagedKernels(const KernelRequest& request, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
