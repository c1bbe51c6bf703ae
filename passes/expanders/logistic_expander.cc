// logistic-expander: expands logistic(x) into 1 / (1 + exp(-x)).
// Results may differ from logistic's own by a few ulp. Cost: linear.
//
// logistic in terms of exp.
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

absl::StatusOr<Instruction*> ExpandLogistic(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kLogistic) return nullptr;
  const Shape& shape = i->shape();
  Instruction* one = r.Splat(shape, 1);
  Instruction* power =
      r.Add(Opcode::kExponential, shape, {r.Add(Opcode::kNegate, shape, {i->operand(0)})});
  return r.Add(Opcode::kDivide, shape, {one, r.Add(Opcode::kAdd, shape, {one, power})});
}

}  // namespace

std::unique_ptr<Pass> CreateLogisticExpander() {
  return MakeExpander("logistic-expander", ExpandLogistic, {.everywhere = true});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
