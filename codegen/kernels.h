// Loop kernels: how the results of one instruction or fusion are computed by generated loops.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codegen/expression.h"
#include "codegen/target_info.h"

namespace hlokit {

// The arrays of the instruction that runs, as the kernel's function sees them.
class KernelArrays {
 public:
  virtual ~KernelArrays() = default;
  virtual ArrayRef operand(int64_t o) = 0;  // array-shaped operands
  virtual ArrayRef result(int64_t leaf) = 0;
  // Elements of an operand that are in registers, in memory order; nothing where they are not.
  virtual std::optional<std::vector<ScalarValue>> known(int64_t) { return std::nullopt; }
  const Instruction* unsupported = nullptr;  // set where emission found a type without code
};

// Loops over `units` independent units of work; ranges of units may run on several threads.
struct Kernel {
  int64_t units = 0;
  double unit_cost = 0;  // rough, in simple float operations
  std::function<void(Builder&, KernelArrays&, llvm::Value* begin, llvm::Value* end)> emit;
  // Width of index arithmetic, for Builder::set_index_bits before emit; `begin` and `end` have it.
  int index_bits = 64;
  bool in_vectors = false;     // emit writes vectors: LLVM has none to look for
  bool is_arithmetic = false;  // arithmetic, not memory, sets the pace of long loops
  // Of one part of a fusion (analysis/fusion_parts): the operands and result leaves that it is
  // about, and whether the part is this kernel alone. No results: all of the instruction.
  std::vector<int64_t> operands, results;
  bool whole_part = false;
};

// Work (in simple float operations) from which a kernel is worth more time to compile: about a
// tenth of a millisecond.
inline constexpr double kLongWork = 1 << 20;

// Whether operand o and result leaf are one buffer.
using InPlace = std::function<bool(int64_t o, int64_t leaf)>;

// Binds the expression's leaves to the kernel's operand arrays.
void BindLeaves(ElementEmitter& emitter, const Expression& expression, KernelArrays& arrays);

// The width of indices in kernels of the expression: that of the target, but 64 where an array or
// a window has positions of more than 31 bits.
int IndexBitsOf(const Expression& expression, const TargetInfo& target);

// Copies the whole of one array onto another of the same memory order.
Kernel CopyKernel(int64_t operand, int64_t result_leaf, const Shape& shape,
                  const TargetInfo& target);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
