// Rows of expressions, and identity elements of their reductions.
#include "backends/cuda/row_plan_internal.h"

#include "analysis/fusion_limits.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

bool SortRoots(GroupRows& plan) {
  for (size_t r = 0; r < plan.e.roots.size(); ++r) {
    const Shape& shape = plan.e.shapes[r];
    if (!shape.IsRowMajor()) return false;
    if (shape.dims == plan.form.full.dims)
      plan.full_roots.push_back(r);
    else if (plan.form.IsRowShaped(shape))
      plan.row_roots.push_back(r);
    else
      return false;
  }
  return true;
}

// The integer that changes nothing when `opcode` combines it with another.
llvm::Value* IdentityInteger(llvm::Type* type, Opcode opcode, bool is_signed) {
  const unsigned bits = type->getIntegerBitWidth();
  const auto least = is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0);
  const auto most =
      is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getAllOnes(bits);
  switch (opcode) {
    case Opcode::kMultiply:
      return llvm::ConstantInt::get(type, 1);
    case Opcode::kAnd:
      return llvm::ConstantInt::getAllOnesValue(type);
    case Opcode::kMaximum:
      return llvm::ConstantInt::get(type, least);
    case Opcode::kMinimum:
      return llvm::ConstantInt::get(type, most);
    default:
      return llvm::ConstantInt::get(type, 0);
  }
}

}  // namespace

bool GroupRows::CanRegroup() const {
  for (const RowForm::Reduction& r : form.reductions)
    if (!hlokit::CanRegroup(*r.reduce)) return false;
  return true;
}

std::optional<GroupRows> FindRows(const Expression& e) {
  const std::optional<RowForm> form = FindRowForm(Body(e), FusionLimits::kMaxShort);
  if (!form.has_value() || form->length == 0 || form->rows == 0) return std::nullopt;
  GroupRows plan;
  plan.e = e;
  plan.form = *form;
  if (!SortRoots(plan)) return std::nullopt;
  return plan;
}

llvm::Value* IdentityOf(const Accumulators& reduction, llvm::Type* type) {
  const Instruction& reduce = reduction.reduce();
  if (IsFloat(reduce.shape().type)) return reduction.IdentityElement();
  return IdentityInteger(type, *SimpleReducer(*reduce.to_apply()), IsSigned(reduce.shape().type));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
