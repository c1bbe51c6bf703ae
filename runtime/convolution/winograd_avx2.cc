// The transformations of 3 x 3 convolutions for machines with AVX2.
#define HLOKIT_ISA isa_avx2
#define HLOKIT_VECTOR_BYTES 32
#include "runtime/convolution/winograd_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
