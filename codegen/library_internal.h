// One kind of runtime call: which instructions it computes and what code calls it.
#pragma once

#include "codegen/call_site.h"

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

const LibraryCall* SortLibraryCall();
// fft, cholesky, triangular-solve, lapack_*_ffi.
std::vector<const LibraryCall*> LinearAlgebraCalls();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
