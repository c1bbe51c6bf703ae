// Tile transpose for machines with AVX2.
#define HLOKIT_ISA isa_avx2
#define HLOKIT_VECTOR_BYTES 32
#include "runtime/transpose/tile_transpose_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
