// What the kernels of a sort share: rows, runs, where elements lie between two kernels.
#pragma once

#include <vector>

#include "backends/cuda/thread_group.h"
#include "codegen/kernel_strategies.h"

namespace hlokit {

struct SortPlan {
  Expression e;
  int64_t length = 1;  // of a row
  int64_t stride = 1;  // in memory, from one element of a row to the next
  int64_t chunk = 32;  // elements of the runs that the first kernel makes
  int64_t kernels = 1;
  std::vector<int64_t> scratch;  // offsets, by operand
  int64_t scratch_bytes = 0;
  std::vector<bool> compared;  // operands that the comparator reads
  bool by_tiles = false;       // sort_tiles.cc

  const Instruction& sort() const { return *e.subject; }
  int64_t Rows() const { return e.shapes[0].ElementCount() / length; }

  // What kernel `number` writes of operand k: results and scratch memory in turn, the last one
  // results.
  ArrayRef Buffer(Builder& b, KernelArrays& arrays, llvm::Value* memory, int64_t k,
                  int64_t number) const;
};

// The number of kernels where the first one makes runs of `chunk`, each other doubles them.
int64_t SortKernelsFor(int64_t length, int64_t chunk);

// Elements of the tiles in which a block sorts rows that lie together in memory; 0 where it cannot.
int64_t SortTile(const SortPlan& plan);
// The kernels of a plan `by_tiles`.
void AddTileSortKernels(const SortPlan& plan, std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
