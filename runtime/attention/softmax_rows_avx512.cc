// Rows of softmax for machines with AVX512.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#include "runtime/attention/softmax_rows_internal.h"

namespace hlokit::HLOKIT_ISA {

const AttentionKernels kAttention = {&FillSoftmaxRow, &AllFinite, &FirstSeen, &EndSeen, &DivideRow};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
