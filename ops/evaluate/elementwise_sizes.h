// Run-time sizes of elementwise operations.
#pragma once

#include <vector>

#include "ops/infer/op_table.h"

namespace hlokit {

// The operands of an elementwise operation (map among them), and the sizes of its result. Where
// operands differ in the size of a dynamic dimension the result has the smallest one, but that an
// operand of size 1 is stretched to the size of the others. A clamp has the sizes of its
// upper bound, else of the value that it clamps. Source: implicit broadcast in XLA's dynamic
// padder.
class ElementwiseOperands {
 public:
  explicit ElementwiseOperands(const EvalContext& context);
  // Operand i, stretched where need be.
  const Literal& operator[](size_t i) const;
  // Gives `result` its run-time sizes.
  void SetSizes(Literal& result) const;

 private:
  const EvalContext& context_;
  DimVector sizes_;  // of the result; -1: its bound. Empty: no operand has a dynamic dimension
  std::vector<Literal> stretched_;  // by operand; holds nothing where the operand stays as it is
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
