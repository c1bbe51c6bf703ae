// The random generators for machines with AVX2.
#define HLOKIT_ISA isa_avx2
#include "runtime/rng/rng_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
