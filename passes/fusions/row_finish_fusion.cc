// row-finish-fusion: a loop that reduces rows and the loop that alone reads its results, and makes
// its own of them one by one, become one fusion, whose kernel computes them as it stores:
//   s = fusion(a) [reduce(a * a, {1})];  r = fusion(s, bias) [sqrt(s + bias)]  ->  r = fusion(a,
//   bias)
// Only rows longer than a thread would compute beside other work, that threads share, and where one
// thread of each may finish them: little work of all rows together. Values stay but for excess
// digits of bf16. Cost: linear.
#include <algorithm>

#include "analysis/dot_finish.h"
#include "analysis/emittable.h"
#include "analysis/fusion_limits.h"
#include "analysis/row_form.h"
#include "passes/framework/pass.h"
#include "passes/fusions/fused_producer.h"
#include "passes/rewrite/control_edges.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxFinishWork = 1 << 16;  // operations: about what a launch costs
constexpr int64_t kMaxFinishInputs = 128;

// The rows that an instruction or a fusion reduces to its one result.
std::optional<RowForm> RowsOf(const Instruction& i) {
  if (i.opcode() == Opcode::kReduce) {
    const Instruction* const members[] = {&i};
    return FindRowForm(members);
  }
  if (i.opcode() != Opcode::kFusion || i.attr<FusionAttrs>().kind != FusionKind::kLoop ||
      i.to_apply()->root()->opcode() != Opcode::kReduce)
    return std::nullopt;
  std::vector<const Instruction*> members;
  for (const Instruction* member : i.to_apply()->PostOrder())
    if (!member->IsParameter()) members.push_back(member);
  return FindRowForm(members, FusionLimits::kMaxShort);
}

bool MayBeFinished(const Instruction& i) {
  if (!i.shape().IsArray() || i.IsRoot() || HasControlEdges(i) || !CanEmitKernels(i)) return false;
  const std::optional<RowForm> form = RowsOf(i);
  return form && form->passes == 2 && form->length > FusionLimits::kMaxShort && form->rows > 0 &&
         form->IsRowShaped(i.shape()) &&
         std::all_of(form->reductions.begin(), form->reductions.end(),
                     [](const RowForm::Reduction& r) { return CanRegroup(*r.reduce); });
}

bool IsLittleWork(const Instruction& loop, int64_t rows) {
  const int64_t operations =
      loop.opcode() == Opcode::kFusion ? loop.to_apply()->instruction_count() : 1;
  return rows * operations <= kMaxFinishWork;
}

absl::StatusOr<bool> FinishRows(Computation& c) {
  return FuseIntoOnlyLoops(c, [](const Instruction& rows, const Instruction& loop) {
    return MayBeFinished(rows) && FinishesInOrder(loop, rows) &&
           IsLittleWork(loop, rows.shape().ElementCount()) &&
           rows.operand_count() + loop.operand_count() <= kMaxFinishInputs;
  });
}

}  // namespace

std::unique_ptr<Pass> CreateRowFinishFusion() {
  return MakeComputationPass("row-finish-fusion", FinishRows);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
