// What an elementary function costs, in simple float operations: in time an element (ElementCost), and in code where it is
// written out (CodeWrittenOut of backends/cpu/host_program/small_instructions.cc).
#pragma once

#include <cstdint>

#include "ir/op_facts.h"

namespace hlokit {

// exp: 8; lgamma: 20; of what is no function, 0.
inline int64_t FunctionCost(CostClass cost) {
  if (cost == CostClass::kFunction) return 8;
  return cost == CostClass::kLongFunction ? 20 : 0;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
