// Convolutions as cuDNN takes them: plain operands, and no slice of features that are zero before a
// pad brings them back.
//   pad(slice(conv))  ->  pad(conv) with less padding
#include <algorithm>

#include "absl/strings/match.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsForwardCall(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall || i.operand_count() < 2) return false;
  const auto& attrs = i.attr<CustomCallAttrs>();
  return attrs.dim_labels && (attrs.target == "__cudnn$convForward" ||
                              attrs.target == "__cudnn$convBiasActivationForward");
}

// How many of the last slices along `dimension` of the kernel are all zero.
int64_t ZerosAtEnd(const Instruction* kernel, int64_t dimension) {
  if (kernel->opcode() == Opcode::kPad && IsSplat(kernel->operand(1), 0))
    return std::max<int64_t>(0, kernel->attr<PadAttrs>().padding[dimension].high);
  if (!kernel->IsConstant() || kernel->literal() == nullptr) return 0;
  int64_t last = -1, flat = 0;
  ForEachIndex(kernel->shape().dims, [&](absl::Span<const int64_t> index) {
    if (kernel->literal()->GetDouble(flat++) != 0) last = std::max(last, index[dimension]);
  });
  return kernel->shape().dims[dimension] - 1 - last;
}

Made SimplifyPadding(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kPad || !IsSplat(i->operand(1), 0)) return nullptr;
  Instruction* slice = i->operand(0);
  if (slice->opcode() != Opcode::kSlice) return nullptr;
  Instruction* part = slice->operand(0);
  if (part->opcode() != Opcode::kGetTupleElement || part->tuple_index() != 0 ||
      !IsForwardCall(*part->operand(0)))
    return nullptr;
  const Instruction& call = *part->operand(0);
  const ConvDims& labels = *call.attr<CustomCallAttrs>().dim_labels;
  const Instruction* kernel = call.operand(1);
  if (IsComplex(kernel->shape().type) || !kernel->shape().IsArray()) return nullptr;
  const int64_t zeros = ZerosAtEnd(kernel, labels.kernel_output_feature);
  const int64_t feature = labels.output_feature;
  const SliceSpec& spec = slice->attr<SliceAttrs>().slice;
  const Shape& whole = part->shape();
  for (int64_t d = 0; d < whole.rank(); ++d)
    if (spec[d].start != 0 || spec[d].stride != 1 ||
        (d != feature && spec[d].limit != whole.dims[d]))
      return nullptr;
  const int64_t cut = whole.dims[feature] - spec[feature].limit;
  PaddingConfig padding = i->attr<PadAttrs>().padding;
  if (zeros == 0 || cut > zeros || padding[feature].interior != 0) return nullptr;
  padding[feature].high -= cut;  // may crop
  HloWriter w(r);
  return w.Pad(part, i->operand(1), std::move(padding));
}

// Whether each value of `from` is one of `to`.
bool Holds(ElementType from, ElementType to) {
  if (IsInteger(from) && IsInteger(to))
    return IsSigned(from) == IsSigned(to) ? BitWidth(to) >= BitWidth(from)
                                          : IsSigned(to) && BitWidth(to) > BitWidth(from);
  if (IsInteger(from) && to == ElementType::kF32) return BitWidth(from) <= 16;
  if (IsInteger(from) && to == ElementType::kF64) return BitWidth(from) <= 32;
  if (!IsFloat(from) || !IsFloat(to)) return false;
  return to == from || to == ElementType::kF64 || (to == ElementType::kF32 && BitWidth(from) <= 16);
}

Made SimplifyOperands(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvolution) return nullptr;
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  bool changed = false;
  HloWriter w(r);
  for (Instruction*& operand : operands) {
    if (operand->opcode() != Opcode::kConvert) continue;
    Instruction* inner = operand->operand(0);
    if (inner->opcode() != Opcode::kConvert) continue;
    Instruction* x = inner->operand(0);
    const bool is_same = inner->shape().type == operand->shape().type;
    if (!is_same && !Holds(x->shape().type, inner->shape().type)) continue;
    operand = is_same ? inner : w.Convert(x, operand->shape().type);
    changed = true;
  }
  return changed ? r.Clone(i, i->shape(), operands) : nullptr;
}

}  // namespace

// cudnn_simplify_padding: a pad of a slice of a cuDNN convolution pads the convolution itself,
// where the features that the slice cuts off are zero because the kernel's are. Exact.
std::unique_ptr<Pass> CreateCudnnSimplifyPadding() {
  return MakeExpander("cudnn_simplify_padding", SimplifyPadding);
}

// conv-operand-canonicalizer: an operand of a convolution that is converted twice is converted
// once, where the first conversion loses nothing or the second changes nothing. Exact.
std::unique_ptr<Pass> CreateConvOperandCanonicalizer() {
  return MakeExpander("conv-operand-canonicalizer", SimplifyOperands);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
