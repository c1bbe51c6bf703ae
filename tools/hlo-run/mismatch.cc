// The instruction behind a result: the root, or what its tuples and bitcasts pass on. For the
// operands' values the module runs once more, up to them alone; the caller decides whether that is
// worth its time.
#include "tools/hlo-run/mismatch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/hlo-run/probe_text.h"
#include "tools/probe/trace.h"

namespace hlokit {
namespace {

// Of the arrays that differ, the one with the largest error; null: none does.
const LeafComparison* WorstArray(const CompareResult& result) {
  const LeafComparison* worst = nullptr;
  for (const LeafComparison& leaf : result.leaves)
    if (leaf.mismatches > 0 && !leaf.worst.empty() &&
        (worst == nullptr || leaf.worst[0].rel > worst->worst[0].rel))
      worst = &leaf;
  return worst;
}

// What computes the array at `index` of the root: the operands of tuples, as far as these go.
const Instruction* MakerOf(const Instruction* root, const ShapeIndex& index) {
  for (const int64_t k : index) {
    if (root->opcode() != Opcode::kTuple) break;
    root = root->operand(k);
  }
  return root;
}

}  // namespace

std::string MismatchText(const Module& module, const CompareResult& result, const Side* side,
                         const DeviceArguments& arguments) {
  const LeafComparison* const worst = WorstArray(result);
  if (worst == nullptr || module.entry() == nullptr) return "";
  const Instruction& maker = *MakerOf(module.entry()->root(), worst->leaf);
  std::string text = absl::StrCat(
      "  result",
      worst->leaf.empty() ? "" : absl::StrCat(" {", absl::StrJoin(worst->leaf, ","), "}"), " is ",
      PlaceText(maker), ShortText(maker), "\n", OriginText(maker));
  if (side == nullptr || !maker.shape().IsArray()) return text;
  const auto inputs = OperandValues(*side, maker, arguments);
  if (inputs.ok()) absl::StrAppend(&text, OperandsText(maker, *inputs, worst->worst[0].index));
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
