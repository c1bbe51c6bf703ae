// The parts of a fusion: which compute independently of each other, whether all are scalars.
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

// Whether one thread that computes the results of `i`, a fusion or an elementwise operation, does
// all that there is to do: nothing that its body computes or reads is more than a scalar.
bool IsOfScalars(const Instruction& i);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
