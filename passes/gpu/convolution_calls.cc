// Convolutions as cuDNN takes them: plain operands, and no slice of features that are zero before a
// pad brings them back.
//   pad(slice(conv))  ->  pad(conv) with less padding
#include "passes/gpu/convolution_calls.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "passes/framework/pass.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/exact_types.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {

ConvolutionConfig ConvolutionConfigOf(const Instruction& call) {
  const BackendConfig whole = BackendConfig::Of(call);
  const BackendConfig part(whole.Raw("cudnn_conv_backend_config"));
  ConvolutionConfig config;
  if (!part.Text("activation_mode").empty())
    config.activation = std::string(part.Text("activation_mode"));
  const auto read = [&](absl::string_view name, double& value) {
    double number = 0;
    if (absl::SimpleAtod(part.Text(name), &number)) value = number;
  };
  read("conv_result_scale", config.result_scale);
  read("side_input_scale", config.side_scale);
  read("leakyrelu_alpha", config.leaky_alpha);
  return config;
}

namespace {

// The shortest text that reads back as the number.
std::string ScaleText(double value) {
  const std::string text = absl::StrCat(value);
  double read = 0;
  return absl::SimpleAtod(text, &read) && read == value ? text : absl::StrFormat("%.17g", value);
}

}  // namespace

void WriteConvolutionConfig(const ConvolutionConfig& config, Instruction& call) {
  BackendConfig part("{}");
  part.SetText("activation_mode", config.activation);
  part.SetRaw("conv_result_scale", ScaleText(config.result_scale));
  part.SetRaw("side_input_scale", ScaleText(config.side_scale));
  part.SetRaw("leakyrelu_alpha", ScaleText(config.leaky_alpha));
  BackendConfig whole = BackendConfig::Of(call);
  whole.SetRaw("cudnn_conv_backend_config", part.Json());
  whole.WriteTo(call);
}

bool IsForwardCall(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall || i.operand_count() < 2) return false;
  const auto& attrs = i.attr<CustomCallAttrs>();
  return attrs.dim_labels && (attrs.target == kConvForward || attrs.target == kConvBiasActivation);
}

namespace {

using Made = absl::StatusOr<Instruction*>;

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
    if (!is_same && !HoldsAllValues(x->shape().type, inner->shape().type)) continue;
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
