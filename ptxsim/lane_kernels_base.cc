// Loops over lanes for any machine.
#define HLOKIT_ISA isa_base
#define HLOKIT_VECTOR_BYTES 16
#include "ptxsim/lane_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
