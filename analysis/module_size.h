// How large a module is.
#pragma once

#include <cstdint>

#include "ir/module.h"

namespace hlokit {

// Of all its computations together.
inline int64_t InstructionCount(const Module& module) {
  int64_t count = 0;
  for (const Computation* c : module.Computations()) count += c->instruction_count();
  return count;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
