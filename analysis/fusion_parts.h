// The parts of a fusion that compute independently of each other.
#pragma once

#include <vector>

#include "ir/computation.h"

namespace hlokit {

// Parts of a fusion's body whose root is a tuple: results of two parts have no array in common,
// neither one that both read nor one made on the way; scalars that come from parameters, constants,
// iotas and broadcasts of these do not count. Each part can be one loop of its own.
struct FusionParts {
  int count = 1;
  std::vector<int> of_result;     // by operand of the root tuple, from 0
  std::vector<int> of_parameter;  // -1: in none, or a scalar that all may read
};
FusionParts FindFusionParts(const Computation& body);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
