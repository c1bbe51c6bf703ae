// topk-specializer: calls for the few largest values of long rows, which a GPU finds in one kernel.
// Matches TopK calls of an array of f32 or bf16 with one or two dimensions, rows of at least 1,024
// elements and at most 16 values of each: leaves calls of XLA's GPU kernel, __gpu$TopK, which needs
// no comparison. Exact. Cost: linear.
//   custom-call(x), custom_call_target="TopK"  ->  custom-call(x), custom_call_target="__gpu$TopK"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxValues = 16, kMinElements = 1024;

bool HasKernel(const Instruction* i) {
  if (i->opcode() != Opcode::kCustomCall || i->attr<CustomCallAttrs>().target != "TopK" ||
      i->operand_count() != 1 || !i->shape().IsTuple() || i->shape().elements.size() != 2)
    return false;
  const Shape &rows = i->operand(0)->shape(), &values = i->shape().elements[0];
  return (rows.type == ElementType::kF32 || rows.type == ElementType::kBF16) && rows.rank() >= 1 &&
         rows.rank() <= 2 && values.rank() == rows.rank() && !i->shape().HasDynamicDims() &&
         !rows.HasDynamicDims() && rows.dims.back() >= kMinElements &&
         values.dims.back() <= kMaxValues;
}

absl::StatusOr<Instruction*> Specialize(Instruction* i, Rewriter& r) {
  if (!HasKernel(i)) return nullptr;
  CustomCallAttrs attrs;
  attrs.target = "__gpu$TopK";
  attrs.api_version = CustomCallApiVersion::kTypedFfi;
  return r.Add(Opcode::kCustomCall, i->shape(), i->operands(), std::move(attrs));
}

}  // namespace

std::unique_ptr<Pass> CreateTopKSpecializer() {
  return MakeExpander("topk-specializer", Specialize);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
