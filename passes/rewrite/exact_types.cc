// Exact conversions; see the header.
#include "passes/rewrite/exact_types.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

using IntegersAsFloats = ExactTypeOptions::IntegersAsFloats;
using Floats = ExactTypeOptions::Floats;

bool HoldsPredicates(ElementType to) {
  if (IsInteger(to)) return to != ElementType::kS1;  // which has no 1, but -1
  return to == ElementType::kF32 || to == ElementType::kF64;
}

bool HoldsIntegers(ElementType from, ElementType to, const ExactTypeOptions& options) {
  const int a = BitWidth(from), b = BitWidth(to);
  if (IsSigned(from) == IsSigned(to)) return b > a || (b == a && options.same_width);
  return options.unsigned_as_signed && IsSigned(to) && b > a;
}

// Of types of two bytes and more, with the implicit one; 0 of others.
int MantissaBits(ElementType type) {
  return IsFloat(type) && BitWidth(type) >= 16 ? FormatOf(type).mantissa_bits + 1 : 0;
}

bool HoldsIntegersAsFloats(ElementType from, ElementType to, IntegersAsFloats which) {
  const int width = BitWidth(from);
  switch (which) {
    case IntegersAsFloats::kNever:
      return false;
    case IntegersAsFloats::kOfHalfTheWidth:
      return (to == ElementType::kF32 && width <= 16) || (to == ElementType::kF64 && width <= 32);
    case IntegersAsFloats::kOfTheMantissa:
      return width - (IsSigned(from) ? 1 : 0) <= MantissaBits(to);
  }
  return false;
}

bool HoldsFloats(ElementType from, ElementType to, Floats which) {
  const int width = BitWidth(from);
  if (which != Floats::kAny && width < 16) return false;
  if (which == Floats::kOf16Bits && width > 16) return false;
  if (from == ElementType::kF8E8M0FNU) return false;  // 2^-127 is a subnormal float
  if (to == ElementType::kF64) return width < 64;
  if (to == ElementType::kF32) return width <= 16;
  return width <= 8 && (to == ElementType::kF16 || to == ElementType::kBF16);
}

}  // namespace

bool HoldsAllValues(ElementType from, ElementType to, const ExactTypeOptions& options) {
  if (from == to) return options.same_width;
  if (IsPred(from)) return options.predicates && HoldsPredicates(to);
  if (IsInteger(from) && IsInteger(to)) return HoldsIntegers(from, to, options);
  if (IsInteger(from)) return HoldsIntegersAsFloats(from, to, options.integers_as_floats);
  return IsFloat(from) && IsFloat(to) && HoldsFloats(from, to, options.floats);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
