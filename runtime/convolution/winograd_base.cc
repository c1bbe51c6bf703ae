// The transformations of 3 x 3 convolutions for any machine.
#define HLOKIT_ISA isa_base
#define HLOKIT_VECTOR_BYTES 16
#include "runtime/convolution/winograd_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
