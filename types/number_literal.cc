// Scalars from numbers.
#include "types/number_literal.h"

namespace hlokit {

Literal NumberLiteral(ElementType type, double value) {
  Literal literal(Shape::Scalar(type));
  if (IsComplex(type)) {
    literal.SetComplex(0, value);
  } else if (IsFloat(type)) {
    literal.SetDouble(0, value);
  } else {
    literal.SetInt(0, static_cast<int64_t>(value));
  }
  return literal;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
