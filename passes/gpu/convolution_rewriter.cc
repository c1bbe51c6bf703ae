// conv-rewriter: convolutions become calls of cuDNN.
//   y = convolution(x, w)   ->   c = (y's shape, u8[0]) custom-call(x, w), "__cudnn$convForward"
//                                y = get-tuple-element(c), index=0
// The second result is scratch memory, of a size that is not known yet. Three kinds, in the order
// in which they are tried; all carry the window of the forward convolution that they belong to:
// - gradient of the filter: nothing is strided, and the kernel is larger in space than the result,
//   or dilated. The kernel is the gradient of an output then, and the result a filter.
// - gradient of the input: the kernel is reversed (or it is constant or 1x1 and the input is
//   dilated): the input is the gradient of an output. The reversal goes into the call.
// - forward: what has at most three spatial dimensions and reads its kernel all forwards or, of two
//   dimensions, all backwards.
// High padding that cuDNN ignores is chosen equal to the low one where it may be. Others stay, as
// do convolutions that have a convolution_kind and those of integers other than s8 that are added
// up as s32: cuDNN has no others, and holds results of s8 to its range where these wrap. Values
// stay the same but for the order of sums. Cost: linear. Errors: Unimplemented for complex types
// and for floats of 8 bits that cuDNN lacks.
// conv-kind-assignment: the same three kinds as an attribute, for conv-fusion-rewriter.
//   dw = convolution(x, g), window={size=9x9}   ->   the same with convolution_kind=wgrad
// The convolution still means what it meant without; only a reversed kernel is read where it was
// before, backwards (window's rhs_reversal).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/convolution_calls.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct CudnnConvolution {
  absl::string_view target, name;
  Instruction *lhs, *rhs;
  Window window;
  ConvDims labels;
  int64_t groups;
  bool turns_constant = false;  // rhs is a constant that is to be reversed in space
};

// The high padding between `least` and least + stride - 1, which all mean the same, that is nearest
// to the low one.
int64_t HighPadding(int64_t low, int64_t least, int64_t stride) {
  return std::clamp(low, least, least + stride - 1);
}

bool LooksForward(const Instruction& i, const ConvolutionAttrs& attrs) {
  const DimVector& spatial = attrs.dim_labels.kernel_spatial;
  size_t small = 0;
  bool dilated = false;
  for (size_t s = 0; s < spatial.size(); ++s) {
    small += i.operand(1)->shape().dims[spatial[s]] <=
             i.shape().dims[attrs.dim_labels.output_spatial[s]];
    dilated |= attrs.window[s].window_dilation != 1;
  }
  return !dilated && (spatial.empty() || small > 1 || (small == 1 && spatial.size() == 1));
}

std::optional<CudnnConvolution> FilterGradient(const Instruction& i,
                                               const ConvolutionAttrs& attrs) {
  if (attrs.feature_group_count != 1 || LooksForward(i, attrs)) return std::nullopt;
  const ConvDims& d = attrs.dim_labels;
  Window window;
  for (size_t s = 0; s < attrs.window.size(); ++s) {
    const WindowDim& from = attrs.window[s];
    if (from.stride != 1 || from.base_dilation != 1 || from.pad_low < 0 || from.reversal)
      return std::nullopt;
    WindowDim to;
    to.size = i.shape().dims[d.output_spatial[s]];
    to.stride = from.window_dilation;
    to.pad_low = from.pad_low;
    const int64_t input = i.operand(0)->shape().dims[d.input_spatial[s]];
    const int64_t reach = to.size + (from.size - 1) * to.stride;
    to.pad_high = HighPadding(to.pad_low, reach - input - to.pad_low, to.stride);
    if (to.pad_high < 0) return std::nullopt;
    window.push_back(to);
  }
  const ConvDims labels = {d.input_feature,        d.input_batch,           d.input_spatial,
                           d.output_batch,         d.output_feature,        d.output_spatial,
                           d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial};
  return CudnnConvolution{kConvBackwardFilter,    "cudnn-conv-bw-filter", i.operand(0),
                          i.operand(1),           std::move(window),      labels,
                          attrs.batch_group_count};
}

// Whether all or none of the spatial dimensions are reversed, and which.
bool AllReversed(const Window& window) {
  return std::all_of(window.begin(), window.end(), [](const WindowDim& d) { return d.reversal; });
}
bool NoneReversed(const Window& window) {
  return std::none_of(window.begin(), window.end(), [](const WindowDim& d) { return d.reversal; });
}

// True if the filter is reversed in all spatial dimensions, or might as well be.
bool ReadsReversed(const Instruction& filter, const ConvolutionAttrs& attrs) {
  DimVector reversed;
  if (filter.opcode() == Opcode::kReverse) reversed = filter.attr<DimensionsAttrs>().dimensions;
  DimVector spatial = attrs.dim_labels.kernel_spatial;
  std::sort(reversed.begin(), reversed.end());
  std::sort(spatial.begin(), spatial.end());
  const Window& window = attrs.window;
  const bool single =
      std::all_of(window.begin(), window.end(), [](const WindowDim& d) { return d.size == 1; });
  const bool dilated = std::any_of(window.begin(), window.end(),
                                   [](const WindowDim& d) { return d.base_dilation != 1; });
  return (filter.opcode() == Opcode::kReverse && reversed == spatial) || AllReversed(window) ||
         (dilated && (filter.IsConstant() || single));
}

std::optional<CudnnConvolution> InputGradient(Instruction& i, const ConvolutionAttrs& attrs) {
  Instruction* filter = i.operand(1);
  const ConvDims& d = attrs.dim_labels;
  if (attrs.feature_group_count != 1 || attrs.batch_group_count != 1 || attrs.window.empty() ||
      !ReadsReversed(*filter, attrs))
    return std::nullopt;
  const bool by_window = AllReversed(attrs.window);
  Window window = attrs.window;
  for (size_t s = 0; s < window.size(); ++s) {
    WindowDim& dim = window[s];
    if (dim.stride != 1 || dim.window_dilation != 1 || (dim.reversal && !by_window))
      return std::nullopt;
    dim.reversal = false;
    dim.stride = dim.base_dilation;
    dim.base_dilation = 1;
    dim.pad_low = dim.size - 1 - dim.pad_low;
    const int64_t outputs = i.operand(0)->shape().dims[d.input_spatial[s]];
    const int64_t reach = dim.size + dim.stride * (outputs - 1);
    const int64_t inputs = i.shape().dims[d.output_spatial[s]];
    dim.pad_high = HighPadding(dim.pad_low, reach - inputs - dim.pad_low, dim.stride);
    if (dim.pad_low < 0 || dim.pad_high < 0) return std::nullopt;
  }
  // A filter that is reversed by an instruction is given as it was; one that the window reads
  // backwards, or of one place, as it is; a constant is reversed for the call.
  if (filter->opcode() == Opcode::kReverse && !by_window) filter = filter->operand(0);
  const ConvDims labels = {d.output_batch,          d.output_feature,       d.output_spatial,
                           d.kernel_output_feature, d.kernel_input_feature, d.kernel_spatial,
                           d.input_batch,           d.input_feature,        d.input_spatial};
  return CudnnConvolution{kConvBackwardInput,
                          "cudnn-conv-bw-input",
                          i.operand(0),
                          filter,
                          std::move(window),
                          labels,
                          1,
                          !by_window && filter->IsConstant()};
}

std::optional<CudnnConvolution> ForwardCall(const Instruction& i, const ConvolutionAttrs& attrs) {
  const size_t rank = attrs.window.size();
  if (rank > 3 || attrs.batch_group_count != 1 || i.operand(0)->shape().ElementCount() == 0 ||
      i.operand(1)->shape().ElementCount() == 0)
    return std::nullopt;
  if (!NoneReversed(attrs.window) && (rank != 2 || !AllReversed(attrs.window))) return std::nullopt;
  return CudnnConvolution{kConvForward,
                          "cudnn-conv",
                          i.operand(0),
                          i.operand(1),
                          attrs.window,
                          attrs.dim_labels,
                          attrs.feature_group_count};
}

absl::Status CheckConvolutionTypes(const Instruction& i) {
  for (const Shape* shape : {&i.operand(0)->shape(), &i.operand(1)->shape(), &i.shape()}) {
    const ElementType type = shape->type;
    const bool small = IsFloat(type) && BitWidth(type) <= 8 && type != ElementType::kF8E4M3FN &&
                       type != ElementType::kF8E5M2;
    if (small || (!IsFloat(type) && !IsInteger(type)))
      return Unimplemented("cuDNN has no convolution of ", Text(type), ": %", i.name());
  }
  return absl::OkStatus();
}

// Whether the operands are s8, perhaps converted, and the result is s32.
bool SumsBytes(const Instruction& i) {
  for (const Instruction* x : i.operands())
    if ((x->opcode() == Opcode::kConvert ? x->operand(0) : x)->shape().type != ElementType::kS8)
      return false;
  return i.shape().type == ElementType::kS32;
}

Instruction* AddConvolutionCall(const CudnnConvolution& call, const Instruction& i, Rewriter& r) {
  CustomCallAttrs attrs;
  attrs.target = std::string(call.target);
  attrs.window = call.window;
  attrs.dim_labels = call.labels;
  attrs.feature_group_count = call.groups;
  attrs.operand_precision = i.attr<ConvolutionAttrs>().operand_precision;
  Instruction* filter = call.rhs;
  if (call.turns_constant)
    filter = HloWriter(r).Reverse(filter, i.attr<ConvolutionAttrs>().dim_labels.kernel_spatial);
  Instruction* made =
      r.Add(Opcode::kCustomCall, Shape::Tuple({i.shape(), RowMajor(ElementType::kU8, {0})}),
            {call.lhs, filter}, std::move(attrs));
  made->set_name(i.module()->UniqueName(std::string(call.name)));
  WriteConvolutionConfig({}, *made);
  return made;
}

// Floats of 8 bits need tensor cores that have them.
absl::Status CheckCapability(const Instruction& i, int64_t capability) {
  for (const Shape* shape : {&i.operand(0)->shape(), &i.operand(1)->shape(), &i.shape()})
    if (IsFloat(shape->type) && BitWidth(shape->type) <= 8 && capability < kFloat8Capability)
      return Unimplemented("convolutions of ", Text(shape->type),
                           " need a GPU of compute capability 8.9 or more: %", i.name());
  return absl::OkStatus();
}

// Convolutions that neither have a kind nor are beyond cuDNN.
bool MayBeCalled(const Instruction& i) {
  return i.opcode() == Opcode::kConvolution && i.operand_count() == 2 &&
         !i.shape().HasDynamicDims() &&
         i.attr<ConvolutionAttrs>().convolution_kind == ConvolutionKind::kUnset;
}

ConvolutionKind KindOf(absl::string_view target) {
  return target == kConvForward         ? ConvolutionKind::kFprop
         : target == kConvBackwardInput ? ConvolutionKind::kDgrad
                                        : ConvolutionKind::kWgrad;
}

std::optional<CudnnConvolution> CallFor(Instruction& i) {
  const auto& attrs = i.attr<ConvolutionAttrs>();
  auto call = FilterGradient(i, attrs);
  if (!call) call = InputGradient(i, attrs);
  if (!call) call = ForwardCall(i, attrs);
  return call;
}

class KindAssignment final : public ComputationPass {
 public:
  explicit KindAssignment(int64_t capability) : capability_(capability) {}
  absl::string_view name() const override { return "conv-kind-assignment"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    for (Instruction* i : c.PostOrder()) {
      if (!MayBeCalled(*i)) continue;
      RETURN_IF_ERROR(CheckConvolutionTypes(*i));
      RETURN_IF_ERROR(CheckCapability(*i, capability_));
      const auto call = CallFor(*i);
      if (!call || !control().Permit(name(), *i, *i)) continue;
      auto& attrs = i->mutable_attr<ConvolutionAttrs>();
      attrs.convolution_kind = KindOf(call->target);
      if (call->rhs != i->operand(1)) {
        for (WindowDim& dim : attrs.window) dim.reversal = true;
        i->SetOperand(1, call->rhs);
      }
      changed = true;
    }
    if (changed) RemoveDead(c);
    return changed;
  }

 private:
  int64_t capability_;
};

absl::StatusOr<bool> RewriteConvolutions(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    if (!MayBeCalled(*i)) continue;
    RETURN_IF_ERROR(CheckConvolutionTypes(*i));
    if (IsInteger(i->shape().type) && !SumsBytes(*i)) continue;
    const auto call = CallFor(*i);
    if (!call || !control.Permit("conv-rewriter", *i, *i)) continue;
    Rewriter r(c);
    r.set_subject(i);
    Instruction* result = HloWriter(r).Part(AddConvolutionCall(*call, *i, r), 0);
    result->mutable_shape() = i->shape();
    i->ReplaceAllUsesWith(result);
    changed = true;
  }
  if (changed) RemoveDead(c);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateConvRewriter() {
  return MakeComputationPass("conv-rewriter", RewriteConvolutions);
}

// conv-kind-assignment: see above. Option: `capability`, the GPU's compute capability times ten
// (80). Values stay as they were. Errors: Unimplemented for complex types, for floats of 8 bits
// that cuDNN lacks, and for all of 8 bits below capability 8.9.
std::unique_ptr<Pass> CreateConvKindAssignment(PassArguments& arguments) {
  return std::make_unique<KindAssignment>(
      arguments.Int("capability", 80, "the GPU's compute capability times 10"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
