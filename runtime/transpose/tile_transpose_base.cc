// Tile transpose for any x86-64 machine.
#define HLOKIT_ISA isa_base
#define HLOKIT_VECTOR_BYTES 16
#include "runtime/transpose/tile_transpose_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
