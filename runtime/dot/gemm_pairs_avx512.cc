// Products of 8- and 16-bit integers for machines with AVX512.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#define HLOKIT_ACCUMULATORS 28
#include "runtime/dot/gemm_pairs_internal.h"
// SPDX-License-Identifier: Apache-2.0
