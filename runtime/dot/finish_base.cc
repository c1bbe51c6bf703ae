// What follows a product, for machines of any kind.
#define HLOKIT_ISA isa_base
#define HLOKIT_VECTOR_BYTES 16
#include "runtime/dot/finish_kernels_internal.h"

namespace hlokit::HLOKIT_ISA {

constexpr FinishRowsKernel kFinishRows = &FinishRows;

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
