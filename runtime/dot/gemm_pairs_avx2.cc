// Products of 8- and 16-bit integers for machines with AVX2.
#define HLOKIT_ISA isa_avx2
#define HLOKIT_VECTOR_BYTES 32
#define HLOKIT_ACCUMULATORS 12
#include "runtime/dot/gemm_pairs_internal.h"
// SPDX-License-Identifier: Apache-2.0
