// The random generators for machines with AVX512.
#define HLOKIT_ISA isa_avx512
#include "runtime/rng/rng_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
