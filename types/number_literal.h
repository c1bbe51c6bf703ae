// Scalars from numbers.
#pragma once

#include "types/literal.h"

namespace hlokit {

// A scalar of any array type: `value` rounded to it, towards zero where that is an integer.
Literal NumberLiteral(ElementType type, double value);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
