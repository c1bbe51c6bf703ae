// What follows a product, for machines with AVX2.
#define HLOKIT_ISA isa_avx2
#define HLOKIT_VECTOR_BYTES 32
#include "runtime/dot/finish_kernels_internal.h"

namespace hlokit::HLOKIT_ISA {

constexpr FinishRowsKernel kFinishRows = &FinishRows;

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
