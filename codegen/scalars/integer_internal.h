// Integer operations with HLO's rules for overflow, division by zero and large shifts. Values are
// in compute form; the element type gives the logical width and the signedness.
#pragma once

#include "codegen/math/value.h"
#include "types/element_type.h"

namespace hlokit {

// Brings the low bits of `x` back into compute form: sub-byte types are extended from their own
// width.
Val WrapInteger(ElementType type, Val x);

Val IntegerAbs(ElementType type, Val x);
Val IntegerSign(ElementType type, Val x);
Val IntegerClz(ElementType type, Val x);
Val IntegerPopcount(ElementType type, Val x);

Val IntegerDivide(ElementType type, Val x,
                  Val y);  // x / 0 has all bits set, the lowest number / -1 is itself
Val IntegerRemainder(ElementType type, Val x, Val y);  // x % 0 is x
Val IntegerPower(ElementType type, Val x,
                 Val y);  // wraps; a negative exponent gives 0 unless |x| is 1
Val IntegerMulhi(ElementType type, Val x, Val y);
Val IntegerMax(ElementType type, Val x, Val y);
Val IntegerMin(ElementType type, Val x, Val y);

// Amounts are unsigned; those past the width shift everything out.
Val ShiftLeft(ElementType type, Val x, Val amount);
Val ShiftRightLogical(ElementType type, Val x, Val amount);
Val ShiftRightArithmetic(ElementType type, Val x, Val amount);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
