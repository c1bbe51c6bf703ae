// The inner loop of depthwise convolutions for machines with AVX2.
#define HLOKIT_ISA isa_avx2
#define HLOKIT_VECTOR_BYTES 32
#include "runtime/convolution/depthwise_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
