// What one device brings to a collective.
#pragma once

#include <vector>

#include "types/literal.h"

namespace hlokit {

// The operands of one member of a group.
using MemberOperands = std::vector<const Literal*>;

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
