// One kind of runtime call: which instructions it computes and what code calls it.
#pragma once

#include "backends/cpu/library_calls/call_site.h"

namespace hlokit {

class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  virtual bool Matches(const Instruction& instruction) const = 0;
  virtual void Emit(CallSite& site, const Instruction& instruction) const = 0;

 protected:
  // The element type as kernel descriptors number it.
  static int64_t Number(const Shape& shape) { return static_cast<int64_t>(shape.type); }
};

// The types that kernels know: no numbers narrower than a byte, no 8-bit floats.
bool IsKernelType(ElementType type);
// Whether operands and result are arrays whose sizes the compiler knows.
bool StaticArrays(const Instruction& instruction);
// The combinations that hlokit_dot and hlokit_conv take.
bool ProductTypes(ElementType lhs, ElementType rhs, ElementType out);

// What hlokit_dot and hlokit_conv want to know.
std::vector<int64_t> DotDescriptor(const Instruction& dot);
std::vector<int64_t> ConvolutionDescriptor(const Instruction& convolution);

const LibraryCall* SortLibraryCall();
// Fusions that attention-fusion made.
const LibraryCall* AttentionLibraryCall();
// Fusions that product-finish-fusion made.
const LibraryCall* FinishedProductCall();
// dot, ragged-dot.
std::vector<const LibraryCall*> DotCalls();
// fft, cholesky, triangular-solve, lapack_*_ffi.
std::vector<const LibraryCall*> LinearAlgebraCalls();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
