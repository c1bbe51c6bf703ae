// Products and convolutions with sizes that tensor cores take: zeros around the operands, and a
// slice of the result.
//   f16[7,9] dot(f16[7,5] a, f16[5,9] b)  ->  slice(f16[8,16] dot(pad(a), pad(b)))
// What is added is zero times zero, so that the values do not change. Cost: linear in the
// instructions; the padded arrays are larger by at most the factors named below.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

int64_t RoundedUp(int64_t size, int64_t multiple) {
  return (size + multiple - 1) / multiple * multiple;
}

Shape WithSizes(const Shape& shape, DimVector dims) {
  Shape other = shape;
  other.dims = std::move(dims);
  return other;
}

// `x` with zeros after its elements up to `dims`.
Instruction* PadTo(HloWriter& w, Instruction* x, const Shape& shape) {
  PaddingConfig padding(shape.rank());
  for (int64_t d = 0; d < shape.rank(); ++d) padding[d].high = shape.dims[d] - x->shape().dims[d];
  return w.rewriter().Add(Opcode::kPad, shape, {x, w.Number(shape.type, 0)}, PadAttrs{padding});
}

// The first elements of `x` along each dimension.
Instruction* CutTo(HloWriter& w, Instruction* x, const Shape& shape) {
  SliceSpec slice;
  for (int64_t size : shape.dims) slice.push_back({0, size, 1});
  return w.rewriter().Add(Opcode::kSlice, shape, {x}, SliceAttrs{slice});
}

// Whether the last two dimensions are those of a matrix and all before them batch dimensions, in
// order.
bool IsCanonical(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  const int64_t rank = dot.shape().rank();
  if (rank < 2 || dot.operand(0)->shape().rank() != rank ||
      dot.operand(1)->shape().rank() != rank || attrs.lhs_contracting_dims.size() != 1 ||
      static_cast<int64_t>(attrs.lhs_batch_dims.size()) != rank - 2 ||
      attrs.lhs_contracting_dims[0] < rank - 2 || attrs.rhs_contracting_dims[0] < rank - 2)
    return false;
  for (int64_t d = 0; d < rank - 2; ++d)
    if (attrs.lhs_batch_dims[d] != d || attrs.rhs_batch_dims[d] != d) return false;
  return true;
}

Made PadProduct(Instruction* i, Rewriter& r, ElementType type, int64_t multiple) {
  if (i->opcode() != Opcode::kDot || i->shape().HasDynamicDims() || !IsCanonical(*i))
    return nullptr;
  const ElementType sum = i->shape().type;
  if (i->operand(0)->shape().type != type || i->operand(1)->shape().type != type ||
      (sum != type && !(type == ElementType::kS8 && sum == ElementType::kS32)))
    return nullptr;
  const auto padded = [&](const Shape& shape) {
    DimVector dims = shape.dims;
    for (int64_t d = shape.rank() - 2; d < shape.rank(); ++d)
      dims[d] = RoundedUp(dims[d], multiple);
    return WithSizes(shape, dims);
  };
  const Shape lhs = padded(i->operand(0)->shape()), rhs = padded(i->operand(1)->shape());
  if (SameDims(lhs, i->operand(0)->shape()) && SameDims(rhs, i->operand(1)->shape()))
    return nullptr;
  HloWriter w(r);
  Instruction* dot =
      r.Clone(i, padded(i->shape()), {PadTo(w, i->operand(0), lhs), PadTo(w, i->operand(1), rhs)});
  return CutTo(w, dot, i->shape());
}

enum class ConvolutionCall { kForward, kForwardActivation, kBackwardInput, kBackwardFilter };

std::optional<ConvolutionCall> CallOf(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall || i.operand_count() < 2 || !i.shape().IsTuple() ||
      i.shape().elements.empty() || !i.attr<CustomCallAttrs>().dim_labels)
    return std::nullopt;
  const std::string& target = i.attr<CustomCallAttrs>().target;
  if (target == "__cudnn$convForward") return ConvolutionCall::kForward;
  if (target == "__cudnn$convBiasActivationForward") return ConvolutionCall::kForwardActivation;
  if (target == "__cudnn$convBackwardInput") return ConvolutionCall::kBackwardInput;
  if (target == "__cudnn$convBackwardFilter") return ConvolutionCall::kBackwardFilter;
  return std::nullopt;
}

// The shapes of a padded call.
struct PaddedCall {
  std::vector<Shape> operands;
  Shape result;

  explicit PaddedCall(const Instruction& call) : result(call.shape().elements[0]) {
    for (const Instruction* x : call.operands()) operands.push_back(x->shape());
  }
  bool Differs(const Instruction& call) const {
    if (!SameDims(result, call.shape().elements[0])) return true;
    for (size_t k = 0; k < operands.size(); ++k)
      if (!SameDims(operands[k], call.operand(k)->shape())) return true;
    return false;
  }
};

bool GrowsMore(const Shape& padded, const Shape& shape, double factor) {
  return static_cast<double>(padded.ByteSize()) > static_cast<double>(shape.ByteSize()) * factor;
}

bool IsGrouped(const CustomCallAttrs& attrs) {
  return attrs.feature_group_count > 1 || attrs.batch_group_count > 1;
}

// f16: features in multiples of eight, three input features of few outputs four, where no array
// grows by more than 35 %.
std::optional<PaddedCall> ForTensorCores(const Instruction& call) {
  constexpr double kMaxGrowth = 1.35;
  const auto kind = CallOf(call);
  const auto& attrs = call.attr<CustomCallAttrs>();
  PaddedCall padded(call);
  if (!kind || kind == ConvolutionCall::kForwardActivation || IsGrouped(attrs) ||
      padded.result.type != ElementType::kF16)
    return std::nullopt;
  const bool from_input = kind == ConvolutionCall::kBackwardInput;
  const bool from_filter = kind == ConvolutionCall::kBackwardFilter;
  Shape& input = from_input ? padded.result : padded.operands[0];
  Shape& filter = from_filter ? padded.result : padded.operands[1];
  Shape& output = from_input    ? padded.operands[0]
                  : from_filter ? padded.operands[1]
                                : padded.result;
  const ConvDims& labels = *attrs.dim_labels;
  const int64_t outputs = output.dims[labels.output_feature];
  if (input.dims[labels.input_feature] == 3 && (outputs == 32 || outputs == 64)) {
    input.dims[labels.input_feature] = filter.dims[labels.kernel_input_feature] = 4;
    return padded;
  }
  const auto pad = [](int64_t& size) { size = RoundedUp(size, 8); };
  pad(input.dims[labels.input_feature]);
  pad(filter.dims[labels.kernel_input_feature]);
  pad(filter.dims[labels.kernel_output_feature]);
  pad(output.dims[labels.output_feature]);
  if (GrowsMore(padded.operands[0], call.operand(0)->shape(), kMaxGrowth) ||
      GrowsMore(padded.operands[1], call.operand(1)->shape(), kMaxGrowth) ||
      GrowsMore(padded.result, call.shape().elements[0], kMaxGrowth))
    return std::nullopt;
  return padded;
}

// The size of the dimension that a layout with vectors of features has beside those that
// dim_labels names: the last of five, of four others 1.
int64_t VectorSize(const Shape& shape, absl::Span<const int64_t> named) {
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (std::find(named.begin(), named.end(), d) == named.end()) return shape.dims[d];
  return 1;
}

std::vector<int64_t> Named(absl::Span<const int64_t> spatial, int64_t a, int64_t b) {
  std::vector<int64_t> named(spatial.begin(), spatial.end());
  named.insert(named.end(), {a, b});
  return named;
}

// 8-bit integers: features in multiples of `multiple`, where input and output do not become more
// than twice as large.
std::optional<PaddedCall> ForIntegers(const Instruction& call, int64_t multiple) {
  constexpr double kMaxGrowth = 2;
  const auto kind = CallOf(call);
  const auto& attrs = call.attr<CustomCallAttrs>();
  PaddedCall padded(call);
  Shape& input = padded.operands[0];
  Shape& filter = padded.operands[1];
  if (!kind || IsGrouped(attrs) || !IsInteger(input.type) || BitWidth(input.type) != 8 ||
      filter.type != input.type ||
      (kind != ConvolutionCall::kForward && kind != ConvolutionCall::kForwardActivation))
    return std::nullopt;
  const ConvDims& labels = *attrs.dim_labels;
  const int64_t of_input =
      VectorSize(input, Named(labels.input_spatial, labels.input_batch, labels.input_feature));
  const int64_t of_filter = VectorSize(
      filter,
      Named(labels.kernel_spatial, labels.kernel_input_feature, labels.kernel_output_feature));
  const int64_t of_output = VectorSize(
      padded.result, Named(labels.output_spatial, labels.output_batch, labels.output_feature));
  for (int64_t size : {of_input, of_filter, of_output})
    if (size < 1 || multiple % size != 0) return std::nullopt;
  const auto pad = [&](Shape& shape, int64_t d, int64_t vector) {
    shape.dims[d] = RoundedUp(shape.dims[d], multiple / vector);
  };
  pad(input, labels.input_feature, of_input);
  pad(filter, labels.kernel_input_feature, of_filter);
  pad(filter, labels.kernel_output_feature, 1);
  pad(padded.result, labels.output_feature, of_output);
  if (kind == ConvolutionCall::kForwardActivation) {
    if (padded.operands.size() > 2) pad(padded.operands[2], 0, 1);
    if (padded.operands.size() > 3) pad(padded.operands[3], labels.output_feature, of_output);
  }
  if (GrowsMore(input, call.operand(0)->shape(), kMaxGrowth) ||
      GrowsMore(padded.result, call.shape().elements[0], kMaxGrowth))
    return std::nullopt;
  return padded;
}

Instruction* MakePadded(Instruction* call, Rewriter& r, const PaddedCall& padded) {
  HloWriter w(r);
  std::vector<Instruction*> operands;
  for (size_t k = 0; k < padded.operands.size(); ++k) {
    Instruction* x = call->operand(k);
    operands.push_back(SameDims(x->shape(), padded.operands[k]) ? x
                                                                : PadTo(w, x, padded.operands[k]));
  }
  Shape shape = call->shape();
  const Shape result = shape.elements[0];
  shape.elements[0] = padded.result;
  Instruction* made = r.Clone(call, shape, operands);
  made->mutable_extras().backend_config = call->extras().backend_config;
  if (SameDims(result, padded.result)) return made;
  std::vector<Instruction*> parts = {CutTo(w, w.Part(made, 0), result)};
  for (size_t k = 1; k < shape.elements.size(); ++k) parts.push_back(w.Part(made, k));
  return w.Tuple(parts);
}

Made PadConvolution(Instruction* i, Rewriter& r, int64_t capability) {
  if (!CallOf(*i)) return nullptr;
  if (i->shape().HasDynamicDims()) return nullptr;
  std::vector<std::optional<PaddedCall>> ways;
  if (capability >= 75) ways.push_back(ForIntegers(*i, 32));
  ways.push_back(ForIntegers(*i, 4));
  if (capability >= 70) ways.push_back(ForTensorCores(*i));
  for (const std::optional<PaddedCall>& way : ways)
    if (way && way->Differs(*i)) return MakePadded(i, r, *way);
  return nullptr;
}

}  // namespace

// cublas-pad-for-gemms. Matches dots of two operands of `type` (f16; of s8 with sums of s32 too),
// batch dimensions first: pads the matrices to multiples of `multiple` (8). Exact.
std::unique_ptr<Pass> CreateCublasPadForGemms(PassArguments& arguments) {
  const int64_t multiple =
      std::max<int64_t>(1, arguments.Int("multiple", 8, "sizes become multiples of this"));
  const std::vector<std::string> type =
      arguments.List("type", {"f16", "bf16", "s8"}, "the operands' type; f16 where none is named");
  const ElementType of = type.empty() || type[0] == "f16" ? ElementType::kF16
                         : type[0] == "bf16"              ? ElementType::kBF16
                                                          : ElementType::kS8;
  return MakeExpander("cublas-pad-for-gemms",
                      [=](Instruction* i, Rewriter& r) { return PadProduct(i, r, of, multiple); });
}

// cudnn_pad_for_convolutions. Matches cuDNN's convolution calls of f16 and of 8-bit integers: pads
// their features to multiples of 8, and of 32 or 4. Option `capability`: the GPU's compute
// capability times ten (80); from 75 on integers are padded to 32. Exact.
std::unique_ptr<Pass> CreateCudnnPadForConvolutions(PassArguments& arguments) {
  const int64_t capability =
      arguments.Int("capability", 80, "the GPU's compute capability times 10");
  return MakeExpander("cudnn_pad_for_convolutions", [capability](Instruction* i, Rewriter& r) {
    return PadConvolution(i, r, capability);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
