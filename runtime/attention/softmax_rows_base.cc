// Rows of softmax for machines with nothing more than every machine has.
#define HLOKIT_ISA isa_base
#define HLOKIT_VECTOR_BYTES 16
#include "runtime/attention/softmax_rows_internal.h"

namespace hlokit::HLOKIT_ISA {

const AttentionKernels kAttention = {&FillSoftmaxRow, &AllFinite, &FirstSeen, &EndSeen, &DivideRow};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
