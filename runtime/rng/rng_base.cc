// The random generators for any machine.
#define HLOKIT_ISA isa_base
#include "runtime/rng/rng_kernels_internal.h"
// SPDX-License-Identifier: Apache-2.0
