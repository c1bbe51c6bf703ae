// Rules for products that oneDNN would compute on a CPU: what it does not take in bf16 is computed
// in f32.
#include <algorithm>

#include "passes/rewrite/hlo_writer.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// oneDNN takes convolutions over one to three dimensions, without groups of the batch and without
// cropping.
bool IsForOnednn(const Instruction& i) {
  const auto& attrs = i.attr<ConvolutionAttrs>();
  const auto is_empty = [](const Shape& shape) { return shape.ElementCount() == 0; };
  if (attrs.batch_group_count > 1 || is_empty(i.shape()) || is_empty(i.operand(0)->shape()) ||
      is_empty(i.operand(1)->shape()))
    return false;
  if (attrs.window.empty() || attrs.window.size() > 3) return false;
  return std::none_of(attrs.window.begin(), attrs.window.end(), [](const WindowDim& dim) {
    return dim.pad_low < 0 || dim.pad_high < 0 || dim.stride < 0;
  });
}

Instruction* WidenedConvolution(Instruction* i, Rewriter& r) {
  if (i->shape().type != ElementType::kBF16 || IsForOnednn(*i)) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> operands;
  for (Instruction* operand : i->operands())
    operands.push_back(w.Convert(operand, ElementType::kF32));
  Instruction* wide = r.Clone(i, RetypedLike(i->shape(), ElementType::kF32), operands);
  return r.Add(Opcode::kConvert, i->shape(), {wide});
}

constexpr Rule kOnednnRules[] = {
    {"convolution-not-for-onednn", Opcode::kConvolution, WidenedConvolution},
};

}  // namespace

absl::Span<const Rule> OnednnRules() { return kOnednnRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
