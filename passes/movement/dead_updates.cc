// dead-dus-elimination: updates that every slice of the result leaves out.
//   slice(dynamic-update-slice(x, u, 8), [0:4]) -> slice(x, [0:4])
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

// Where the update starts; nothing where that is computed or out of range.
std::optional<DimVector> ConstantStarts(const Instruction* update) {
  const Shape& shape = update->shape();
  if (update->operand_count() != shape.rank() + 2) return std::nullopt;
  DimVector starts;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const std::optional<int64_t> start = IntegerSplat(update->operand(d + 2));
    if (!start || *start < 0 || *start > shape.dims[d] - update->operand(1)->shape().dims[d])
      return std::nullopt;
    starts.push_back(*start);
  }
  return starts;
}

bool Misses(const Instruction* slice, const DimVector& starts, const Shape& window) {
  if (slice->opcode() != Opcode::kSlice) return false;
  const SliceSpec& spec = slice->attr<SliceAttrs>().slice;
  for (size_t d = 0; d < spec.size(); ++d)
    if (spec[d].limit <= starts[d] || spec[d].start >= starts[d] + window.dims[d]) return true;
  return false;
}

absl::StatusOr<Instruction*> DropUnread(Instruction* i, Rewriter&) {
  if (i->opcode() != Opcode::kDynamicUpdateSlice || i->IsRoot()) return nullptr;
  const std::optional<DimVector> starts = ConstantStarts(i);
  if (!starts || !SameShape(i->operand(0)->shape(), i->shape())) return nullptr;
  for (const Instruction* user : i->users())
    if (!Misses(user, *starts, i->operand(1)->shape())) return nullptr;
  return i->operand(0);
}

}  // namespace

// dead-dus-elimination. Matches dynamic-update-slice at a constant place that all its readers,
// plain slices, leave out; leaves the array as it was. Cost: linear.
std::unique_ptr<Pass> CreateDeadDusElimination() {
  return MakeExpander("dead-dus-elimination", DropUnread);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
