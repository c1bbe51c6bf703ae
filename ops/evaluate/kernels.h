// Kernels: what an elementwise opcode does to short runs of widened elements. Whole arrays run them
// chunk by chunk; scalar programs (scalar_program.h) run them on the values of called computations.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/instruction.h"
#include "ops/evaluate/values.h"

namespace hlokit {

// A kernel and what it must know. Results are not yet rounded to `out`: StoreWide or RoundWide does
// that.
struct KernelCall {
  using Function = void (*)(const KernelCall& call, const void* const* in, void* out, int64_t n);
  Function run = nullptr;
  ElementType in = ElementType::kInvalid;  // of the first operand (the second for select)
  ElementType out = ElementType::kInvalid;
  int64_t a = 0, b = 0;  // the opcode's attributes
};

// The kernel of an elementwise instruction. Unimplemented where the opcode has no meaning for the
// type.
absl::StatusOr<KernelCall> FindKernel(const Instruction& instruction);

// The kernels of each widening; null where there is none. Those of compare, convert and the like
// stand apart.
KernelCall::Function RealKernel(Opcode opcode);
KernelCall::Function SignedKernel(Opcode opcode);
KernelCall::Function UnsignedKernel(Opcode opcode);
KernelCall::Function ComplexKernel(Opcode opcode);
// The kernel of a binary opcode for `type`; null where there is none.
KernelCall::Function BinaryKernelFor(Opcode opcode, ElementType type);

// A number that orders values totally: doubles as -NaN < -inf < ... < -0 < +0 < ... < inf < NaN,
// integers as they are.
int64_t OrderKey(double x);
inline int64_t OrderKey(int64_t x) { return x; }
inline uint64_t OrderKey(uint64_t x) { return x; }

// Loops that the kernel tables are made of.
template <typename T, typename R, R (*F)(T)>
void RunUnary(const KernelCall&, const void* const* in, void* out, int64_t n) {
  const T* x = static_cast<const T*>(in[0]);
  R* r = static_cast<R*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = F(x[i]);
}

template <typename T, T (*F)(T, T)>
void RunBinary(const KernelCall&, const void* const* in, void* out, int64_t n) {
  const T* x = static_cast<const T*>(in[0]);
  const T* y = static_cast<const T*>(in[1]);
  T* r = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) r[i] = F(x[i], y[i]);
}

// A table of kernels, and the one for `opcode` in it: null where there is none.
struct KernelRow {
  Opcode opcode;
  KernelCall::Function run;
};
inline KernelCall::Function KernelIn(absl::Span<const KernelRow> table, Opcode opcode) {
  for (const KernelRow& row : table)
    if (row.opcode == opcode) return row.run;
  return nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
