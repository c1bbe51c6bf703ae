// Elements of small dots: each a loop over the contracted dimensions that carries one sum.
//   f32[5,8] x f32[8]:  r[i] = sum of l[i, k] * r[k], k in 0..8
// Short sums are written out where the caller asks for it (ElementEmitter::set_unroll), neighbours
// first. Work: one product for each step; nothing is kept in registers between elements, which is
// what the kernels for batches of small dots (backends/cpu/kernels/small_dot_kernels) are for.
#include <algorithm>

#include "codegen/accumulators.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// Neighbours first: no value waits for more additions than it must.
ScalarValue PairwiseSum(Builder& b, ElementType type, std::vector<ScalarValue> terms,
                        const ScalarValue& zero) {
  if (terms.empty()) return zero;
  while (terms.size() > 1) {
    std::vector<ScalarValue> sums;
    for (size_t k = 0; k + 1 < terms.size(); k += 2)
      sums.push_back(EmitBinary(b, Opcode::kAdd, type, terms[k], terms[k + 1]));
    if (terms.size() % 2 == 1) sums.push_back(terms.back());
    terms = std::move(sums);
  }
  return terms[0];
}

// Sets where a dot's element at `result` lies in the operands, but for the summed dimensions.
void PlaceInDot(const DotAttrs& dims, const std::vector<llvm::Value*>& result,
                std::vector<llvm::Value*>& lhs, std::vector<llvm::Value*>& rhs) {
  int64_t at = 0;
  for (size_t k = 0; k < dims.lhs_batch_dims.size(); ++k, ++at)
    lhs[dims.lhs_batch_dims[k]] = rhs[dims.rhs_batch_dims[k]] = result[at];
  const auto place_others = [&](std::vector<llvm::Value*>& multi, const DimVector& batch,
                                const DimVector& contracting) {
    for (size_t d = 0; d < multi.size(); ++d) {
      const bool used = std::find(batch.begin(), batch.end(), d) != batch.end() ||
                        std::find(contracting.begin(), contracting.end(), d) != contracting.end();
      if (!used) multi[d] = result[at++];
    }
  };
  place_others(lhs, dims.lhs_batch_dims, dims.lhs_contracting_dims);
  place_others(rhs, dims.rhs_batch_dims, dims.rhs_contracting_dims);
}

}  // namespace

// Sums of products, in the operands' type (narrow floats in f32), rounded once.
ScalarValue ElementEmitter::EmitDot(const Instruction* i, const ElementIndex& index) {
  const auto& dims = i->attr<DotAttrs>();
  const Instruction* lhs = i->operand(0);
  const Instruction* rhs = i->operand(1);
  std::vector<llvm::Value*> l(lhs->shape().rank()), r(rhs->shape().rank());
  PlaceInDot(dims, WithMulti(b_, index, i->shape()).multi, l, r);
  ElementType sum_type = TypeOf(i->shape());
  if (IsNarrowFloat(sum_type)) sum_type = ElementType::kF32;
  const ScalarValue zero = EmitConvert(b_, ElementType::kPred, sum_type, {b_.getFalse()});
  const std::vector<ScalarValue> like = {zero};
  const auto product = [&] {
    const auto factor = [&](const Instruction* operand, const std::vector<llvm::Value*>& multi) {
      return EmitConvert(b_, TypeOf(operand->shape()), sum_type,
                         Emit(operand, ElementIndex::Multi(multi)));
    };
    const ScalarValue x = factor(lhs, l), y = factor(rhs, r);
    const Reassociate flags(b_, true);
    return EmitBinary(b_, Opcode::kMultiply, sum_type, x, y);
  };
  const DimVector& summed = dims.lhs_contracting_dims;
  const auto set_place = [&](size_t level, llvm::Value* k) {
    l[summed[level]] = r[dims.rhs_contracting_dims[level]] = k;
  };
  std::function<Values(size_t, const Values&)> nest = [&](size_t level,
                                                          const Values& carried) -> Values {
    if (level == summed.size()) {
      const ScalarValue next = product();
      const Reassociate flags(b_, true);
      return Flatten({EmitBinary(b_, Opcode::kAdd, sum_type, Unflatten(carried, like)[0], next)});
    }
    return EmitLoopCarrying(b_, lhs->shape().dims[summed[level]], carried,
                            [&](llvm::Value* k, const Values& inner) {
                              set_place(level, k);
                              BeginScope();
                              const Values next = nest(level + 1, inner);
                              EndScope();
                              return next;
                            });
  };
  ScalarValue sum;
  if (unroll_ && summed.size() == 1 && lhs->shape().dims[summed[0]] <= kMaxSteps) {
    std::vector<ScalarValue> products;
    for (int64_t k = 0; k < lhs->shape().dims[summed[0]]; ++k) {
      set_place(0, b_.Index(k));
      products.push_back(product());
    }
    sum = PairwiseSum(b_, sum_type, std::move(products), zero);
  } else {
    sum = Unflatten(nest(0, Flatten({zero})), like)[0];
  }
  return sum_type == TypeOf(i->shape()) ? sum : EmitConvert(b_, sum_type, TypeOf(i->shape()), sum);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
