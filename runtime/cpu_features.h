// What the kernels of products ask for, beside support/cpu_features.h.
#pragma once

#include <stdint.h>

#include "support/cpu_features.h"

namespace hlokit {

// Whether kAvx512 comes with products of bf16 pairs that are faster than those of floats. Intel's
// are not: one in two cycles, where multiply-adds of floats start two in one.
bool HasBf16Products();
// And of pairs of 16-bit integers.
bool HasIntegerProducts();

// Bytes of the cache that a core has for itself; 1 MiB where the system does not say.
int64_t SecondLevelBytes();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
