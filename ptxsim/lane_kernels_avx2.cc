// Loops over lanes for machines with AVX2.
#define HLOKIT_ISA isa_avx2
#define HLOKIT_VECTOR_BYTES 32
#include "ptxsim/lane_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
