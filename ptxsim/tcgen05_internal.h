// What the instructions of tcgen05 share: places in tensor memory, the blocks of a pair.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/shared_matrix_internal.h"
#include "ptxsim/tensor_memory.h"

namespace hlokit::ptx {

// Lane and column of an address of tensor memory.
struct TensorPlace {
  int lane, column;
  explicit TensorPlace(uint64_t address)
      : lane(static_cast<int>(address >> 16 & 0xffff)),
        column(static_cast<int>(address & 0xffff)) {}
};

// The cell, or null after a fault. `memory`: of another block than the warp's.
uint32_t* CellAt(const Op& op, Warp& warp, int thread, int lane, int column,
                 TensorMemory* memory = nullptr);

// A block that takes part: the only one (rank -1: its own addresses), or one of a pair.
struct PairBlock {
  TensorMemory* memory = nullptr;
  int rank = -1;
  // Makes the matrix the one in this block's shared memory.
  void Shift(SharedMatrix& matrix) const;
};
// The blocks, one or two; 0 after a fault.
int BlocksOf(const Op& op, Warp& warp, int thread, bool pair, PairBlock* blocks);

template <typename F>
void EmitForm(Binder& b, Exec exec, F form) {
  if (b.failed()) return;
  Op op = b.MakeExec(exec);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::make_shared<F>(std::move(form)));
  b.Emit(op);
}

void BindTensorProduct(Binder& b);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
