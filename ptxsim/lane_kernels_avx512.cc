// Loops over lanes for machines with AVX512.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#include "ptxsim/lane_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
