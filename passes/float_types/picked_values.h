// Operations that make no new values.
#pragma once

#include "ir/opcode.h"

namespace hlokit {

// Whether each element of a result is one of the operands' elements, or one with another sign: then
// rounding before and after are the same.
bool PicksValues(Opcode opcode);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
