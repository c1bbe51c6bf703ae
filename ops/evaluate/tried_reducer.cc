// Identity elements, by evaluation.
#include "ops/evaluate/tried_reducer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/evaluate/scalar_program.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

using Numbers = std::vector<double>;

// All patterns of a type of up to 8 bits, of others every 17th, the infinities among them.
Numbers NumbersOf(ElementType type) {
  const int64_t patterns = int64_t{1} << BitWidth(type), step = BitWidth(type) > 8 ? 17 : 1;
  Literal all(Shape::Array(type, {(patterns + step - 1) / step}));
  for (int64_t k = 0; k < all.element_count(); ++k) {
    const int64_t pattern = k * step;
    for (int64_t byte = 0; byte < ByteWidth(type); ++byte)
      all.data()[k * ByteWidth(type) + byte] = static_cast<uint8_t>(pattern >> (8 * byte));
  }
  return WidenTo<double>(all);
}

bool Equal(const Numbers& a, const Numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

bool IsElementwise(const Computation& computation) {
  for (const Instruction* i : computation.Instructions())
    if (!i->IsParameter() && !i->IsConstant() && !HasTrait(i->opcode(), kElementwise)) return false;
  return true;
}

bool TakesTwo(const Computation& computation, ElementType type) {
  if (!IsNarrowFloat(type) || computation.parameter_count() != 2) return false;
  for (const Instruction* i :
       {computation.parameter(0), computation.parameter(1), computation.root()})
    if (!i->shape().IsScalar() || i->shape().type != type) return false;
  return true;
}

}  // namespace

bool ActsAsIdentity(const Literal& start, const Computation& computation) {
  const ElementType type = start.type();
  if (!TakesTwo(computation, type) || !IsElementwise(computation)) return false;
  const Numbers x = NumbersOf(type);
  const auto count = static_cast<int64_t>(x.size());
  const auto program = ScalarProgram::Compile(computation, count);
  if (program == nullptr) return false;
  const auto apply = [&](const Numbers& left, const Numbers& right) {
    program->Run({left.data(), right.data()}, count);
    const auto* values = static_cast<const double*>(program->result(0));
    Numbers result(values, values + count);
    RoundWide(type, result.data(), count);
    return result;
  };
  const Numbers starts(x.size(), start.GetDouble(0));
  if (!Equal(apply(starts, x), x) || !Equal(apply(x, starts), x)) return false;
  Numbers y(x.size());
  for (size_t k = 0; k < y.size(); ++k) y[k] = x[(k * 1237 + 11) % x.size()];
  return Equal(apply(x, y), apply(y, x));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
