// Copies of built computations in the module under construction.
#pragma once

#include "ir/module.h"

namespace hlokit {

// Copies the entry computation of `from`, and what it calls, into `to`; names are made unique.
Computation* CopyInto(const Module& from, Module& to);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
