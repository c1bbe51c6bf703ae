// cudnn-fused-convolution-rewriter: what surrounds a forward convolution of cuDNN goes into its
// call.
//   relu(add(multiply(y, a), broadcast(bias)))  of  y = part 0 of "__cudnn$convForward"(x, w)
//     ->  "__cudnn$convBiasActivationForward"(x, w, bias), conv_result_scale a, activation kRelu
// A call computes activation(scale * conv(x, w) + side_scale * side + bias). In this order:
//   remove-convert   convert(y) of integers or floats is a result of that type
//   scale            y times a constant, while nothing else is fused
//   bias             plus a vector along the output's features, or a scalar, where there is none
//   yet side-input       plus another array, where there is none yet, and its constant factor
//   activation       relu of all types; of f16 with an even number of features and no side input
//                    elu, relu6 and leaky relu
//   to-f16, to-s8    operands that were converted from f16 or s8 without loss are taken as they
//                    were; s8 results are clamped, or f32
// Each needs that nothing else reads what disappears. Depthwise convolutions keep bias and scale
// outside. Sums are rounded in another order, s8 results to the nearest instead of towards zero.
// Errors: Unimplemented where a convolution of other integers than s8 remains. Cost: linear for
// each step.
#include <algorithm>
#include <cmath>

#include "passes/framework/pass.h"
#include "passes/gpu/convolution_calls.h"
#include "passes/rewrite/exact_types.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "support/status.h"

namespace hlokit {
namespace {

bool HasUsers(const Instruction* i, size_t count) {
  return i->users().size() == count && !i->IsRoot();
}

// The call whose convolution `x` is, if nothing else reads that call.
Instruction* CallBehind(const Instruction* x) {
  if (x->opcode() != Opcode::kGetTupleElement || x->tuple_index() != 0) return nullptr;
  Instruction* call = x->operand(0);
  return IsForwardCall(*call) && HasUsers(call, 1) && call->shape().elements.size() == 2 ? call
                                                                                         : nullptr;
}

// The same where `x` is read by `readers` instructions.
Instruction* CallOf(const Instruction* x, size_t readers = 1) {
  return HasUsers(x, readers) ? CallBehind(x) : nullptr;
}

const ConvDims& Labels(const Instruction& call) { return *call.attr<CustomCallAttrs>().dim_labels; }

bool IsDepthwise(const Instruction& call) {
  return call.attr<CustomCallAttrs>().feature_group_count > 1 &&
         call.operand(1)->shape().dims[Labels(call).kernel_input_feature] == 1;
}

// The scalar constant that fills `x`; nothing where it is none or not finite.
std::optional<double> FactorOf(const Instruction* x) {
  const Literal* value = SplatValue(x);
  if (value == nullptr || IsComplex(value->type())) return std::nullopt;
  const double factor = value->GetDouble(0);
  return std::isfinite(factor) ? std::optional(factor) : std::nullopt;
}

// Which operand of a commutative operation satisfies `is`, or -1.
template <typename Is>
int SideThat(const Instruction* i, Is is) {
  for (const int k : {0, 1})
    if (is(i->operand(k))) return k;
  return -1;
}

// Whether `type`, which is not complex, holds `value` without rounding.
bool IsNumberOf(ElementType type, double value) {
  Literal one(Shape::Scalar(type));
  if (IsFloat(type)) {
    one.SetDouble(0, value);
    return one.GetDouble(0) == value;
  }
  constexpr double kExact = int64_t{1} << 53;
  if (value != std::trunc(value) || std::abs(value) > kExact) return false;
  one.SetInt(0, static_cast<int64_t>(value));
  return one.GetInt(0) == static_cast<int64_t>(value);
}

// True if `x` could have been computed in `type` all along: it has that type, was converted from it
// without loss, is a constant whose values it holds, or moves such an array.
bool IsLosslessIn(const Instruction* x, ElementType type, int depth = 8) {
  if (x->shape().type == type) return true;
  switch (x->opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
      return depth > 0 && IsLosslessIn(x->operand(0), type, depth - 1);
    case Opcode::kConvert:
      return x->operand(0)->shape().type == type && HoldsAllValues(type, x->shape().type);
    case Opcode::kConstant: {
      const Literal* value = x->literal();
      if (value == nullptr || IsComplex(value->type()) || IsComplex(type)) return false;
      for (int64_t k = 0; k < value->element_count(); ++k)
        if (!IsNumberOf(type, value->GetDouble(k))) return false;
      return true;
    }
    default:
      return false;
  }
}

// A call that is rewritten: operands, result type and configuration may change.
class FusedCall {
 public:
  FusedCall(Instruction* call, Rewriter& r)
      : call_(call),
        w_(r),
        operands_(call->operands().begin(), call->operands().end()),
        type_(call->shape().elements[0].type),
        config(ConvolutionConfigOf(*call)) {}

  HloWriter& w() { return w_; }
  const Instruction& call() const { return *call_; }
  int64_t features() const {
    return call_->operand(1)->shape().dims[Labels(*call_).kernel_output_feature];
  }
  ElementType BiasType() const { return IsFloat(type_) ? type_ : ElementType::kF32; }
  std::vector<Instruction*>& operands() { return operands_; }
  void set_type(ElementType type) { type_ = type; }

  // A bias of zeros where there is none: what activations and side inputs come behind.
  void EnsureBias() {
    if (operands_.size() > 2) return;
    operands_.push_back(w_.FillNumber(RowMajor(BiasType(), {features()}), 0));
  }
  bool HasZeroBias() const { return operands_.size() < 3 || IsSplat(operands_[2], 0); }

  // Part 0 of the new call.
  Instruction* Make() {
    Shape shape = call_->shape();
    shape.elements[0] = RetypedLike(shape.elements[0], type_);
    const bool fused = operands_.size() > 2;
    Instruction* made = w_.rewriter().Clone(call_, shape, operands_);
    if (fused && made->attr<CustomCallAttrs>().target == kConvForward) {
      made->mutable_attr<CustomCallAttrs>().target = std::string(kConvBiasActivation);
      made->set_name(call_->module()->UniqueName("cudnn-conv-bias-activation"));
    }
    WriteConvolutionConfig(config, *made);
    return w_.Part(made, 0);
  }

 private:
  Instruction* call_;
  HloWriter w_;
  std::vector<Instruction*> operands_;
  ElementType type_;

 public:
  ConvolutionConfig config;
};

// ---- steps: what may stand for `i`, or null

Instruction* FuseConvert(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvert) return nullptr;
  Instruction* call = CallOf(i->operand(0));
  const ElementType from = i->operand(0)->shape().type, to = i->shape().type;
  const bool known = (from == ElementType::kS32 && to == ElementType::kF32) ||
                     (from == ElementType::kF32 && to == ElementType::kS8) ||
                     (from == ElementType::kS8 && to == ElementType::kF32);
  if (call == nullptr || !known || (call->operand_count() > 2 && to != ElementType::kS8))
    return nullptr;
  FusedCall fused(call, r);
  if (fused.config.activation != "kNone") return nullptr;
  fused.set_type(to);
  return fused.Make();
}

Instruction* FuseScale(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kMultiply) return nullptr;
  const int k = SideThat(i, [](const Instruction* x) { return CallOf(x) != nullptr; });
  if (k < 0) return nullptr;
  const auto factor = FactorOf(i->operand(1 - k));
  FusedCall fused(CallOf(i->operand(k)), r);
  if (!factor || !IsFloat(i->shape().type) || IsDepthwise(fused.call()) ||
      fused.config.result_scale != 1 || fused.config.activation != "kNone" ||
      !fused.HasZeroBias() || fused.operands().size() > 3)
    return nullptr;
  fused.config.result_scale = *factor;
  fused.EnsureBias();
  return fused.Make();
}

// The addend as a vector along the output's features, or null.
Instruction* AsBias(Instruction* addend, FusedCall& fused) {
  if (addend->opcode() != Opcode::kBroadcast || !IsLosslessIn(addend, fused.BiasType()))
    return nullptr;
  const DimVector& dims = addend->attr<BroadcastAttrs>().dimensions;
  const bool along = dims.size() == 1 && dims[0] == Labels(fused.call()).output_feature;
  if (!along && !dims.empty()) return nullptr;
  Instruction* bias = fused.w().Convert(addend->operand(0), fused.BiasType());
  return along ? bias : fused.w().Fill(RowMajor(fused.BiasType(), {fused.features()}), bias);
}

Instruction* FuseAddend(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kAdd) return nullptr;
  const int k = SideThat(i, [](const Instruction* x) { return CallOf(x) != nullptr; });
  if (k < 0) return nullptr;
  Instruction* addend = i->operand(1 - k);
  FusedCall fused(CallOf(i->operand(k)), r);
  if (fused.config.activation != "kNone" || IsDepthwise(fused.call())) return nullptr;
  Instruction* bias = fused.HasZeroBias() ? AsBias(addend, fused) : nullptr;
  if (bias != nullptr) {
    fused.EnsureBias();
    fused.operands()[2] = bias;
    return fused.Make();
  }
  if (fused.operands().size() > 3) return nullptr;
  fused.EnsureBias();
  fused.operands().push_back(addend);
  fused.config.side_scale = 1;
  return fused.Make();
}

// The constant factor of a side input.
Instruction* FuseSideScale(Instruction* i, Rewriter& r) {
  Instruction* call = CallBehind(i);
  if (call == nullptr || call->operand_count() < 4) return nullptr;
  const Instruction* product = call->operand(3);
  FusedCall fused(call, r);
  if (product->opcode() != Opcode::kMultiply || fused.config.side_scale != 1) return nullptr;
  const int k = SideThat(product, [](const Instruction* x) { return FactorOf(x).has_value(); });
  if (k < 0 || !IsFloat(product->shape().type)) return nullptr;
  fused.config.side_scale = *FactorOf(product->operand(k));
  fused.operands()[3] = product->operand(1 - k);
  return fused.Make();
}

Instruction* Activated(Instruction* call, absl::string_view mode, Rewriter& r, double alpha = 0) {
  FusedCall fused(call, r);
  if (fused.config.activation != "kNone") return nullptr;
  fused.config.activation = std::string(mode);
  fused.config.leaky_alpha = alpha;
  fused.EnsureBias();
  return fused.Make();
}

// Whether cuDNN compiles the activation for this call when it runs.
bool TakesAnyActivation(const Instruction& call) {
  const Shape& kernel = call.operand(1)->shape();
  return call.operand_count() <= 3 && call.operand(0)->shape().type == ElementType::kF16 &&
         call.shape().elements[0].type == ElementType::kF16 &&
         kernel.dims[Labels(call).kernel_input_feature] % 2 == 0 &&
         kernel.dims[Labels(call).kernel_output_feature] % 2 == 0;
}

Instruction* FuseRelu(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kMaximum) return nullptr;
  const int k = SideThat(i, [](const Instruction* x) { return CallOf(x) != nullptr; });
  return k >= 0 && IsSplat(i->operand(1 - k), 0) ? Activated(CallOf(i->operand(k)), "kRelu", r)
                                                 : nullptr;
}

Instruction* FuseRelu6(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kClamp || !IsSplat(i->operand(0), 0) || !IsSplat(i->operand(2), 6))
    return nullptr;
  Instruction* call = CallOf(i->operand(1));
  return call != nullptr && TakesAnyActivation(*call) ? Activated(call, "kRelu6", r) : nullptr;
}

// select(y > 0, y, exp(y) - 1) and select(y > 0, y, alpha * y).
Instruction* FuseOneSided(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kSelect) return nullptr;
  const Instruction *compare = i->operand(0), *y = i->operand(1), *other = i->operand(2);
  Instruction* call = CallOf(y, 3);
  if (call == nullptr || !TakesAnyActivation(*call) || compare->opcode() != Opcode::kCompare ||
      compare->attr<CompareAttrs>().direction != ComparisonDirection::kGt ||
      compare->operand(0) != y || !IsSplat(compare->operand(1), 0) || !HasUsers(compare, 1) ||
      !HasUsers(other, 1))
    return nullptr;
  if (other->opcode() == Opcode::kExponentialMinusOne && other->operand(0) == y)
    return Activated(call, "kElu", r);
  if (other->opcode() != Opcode::kMultiply) return nullptr;
  const int k = SideThat(other, [&](const Instruction* x) { return x == y; });
  const auto alpha = k < 0 ? std::nullopt : FactorOf(other->operand(1 - k));
  return alpha ? Activated(call, "kLeakyRelu", r, *alpha) : nullptr;
}

// Takes the operands of the convolution in `type`, the bias and the side input in what belongs to a
// result of `result`; false where one of them would lose something.
bool TakeIn(FusedCall& fused, ElementType type, ElementType result) {
  fused.set_type(result);
  std::vector<Instruction*>& operands = fused.operands();
  const ElementType types[] = {type, type, fused.BiasType(), result};
  for (size_t k = 0; k < operands.size(); ++k)
    if (!IsLosslessIn(operands[k], types[k])) return false;
  for (size_t k = 0; k < operands.size(); ++k)
    operands[k] = fused.w().Convert(operands[k], types[k]);
  return true;
}

Instruction* FuseToF16(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvert || i->shape().type != ElementType::kF16) return nullptr;
  Instruction* call = CallOf(i->operand(0));
  if (call == nullptr || i->operand(0)->shape().type != ElementType::kF32) return nullptr;
  FusedCall fused(call, r);
  return TakeIn(fused, ElementType::kF16, ElementType::kF16) ? fused.Make() : nullptr;
}

// What is clamped to s8 and converted, or a result of f32 or s8 whose operands come from s8.
Instruction* FuseToS8(Instruction* i, Rewriter& r) {
  Instruction* y = i;
  ElementType result = i->shape().type;
  if (i->opcode() == Opcode::kConvert && result == ElementType::kS8 &&
      i->operand(0)->opcode() == Opcode::kClamp && HasUsers(i->operand(0), 1)) {
    const Instruction* clamp = i->operand(0);
    if (!IsSplat(clamp->operand(0), -128) || !IsSplat(clamp->operand(2), 127)) return nullptr;
    y = clamp->operand(1);
  } else if (i->opcode() != Opcode::kGetTupleElement ||
             (result != ElementType::kF32 && result != ElementType::kS8)) {
    return nullptr;
  }
  Instruction* call = y == i ? CallBehind(i) : CallOf(y);
  if (call == nullptr || (y == i && call->operand(0)->shape().type == ElementType::kS8 &&
                          call->operand(1)->shape().type == ElementType::kS8))
    return nullptr;
  FusedCall fused(call, r);
  return TakeIn(fused, ElementType::kS8, result) ? fused.Make() : nullptr;
}

struct ConvolutionStep {
  const char* name;
  Instruction* (*apply)(Instruction*, Rewriter&);
};
constexpr ConvolutionStep kConvolutionSteps[] = {
    {"remove-convert", FuseConvert},
    {"scale", FuseScale},
    {"addend", FuseAddend},
    {"addend", FuseAddend},
    {"side-scale", FuseSideScale},
    {"addend", FuseAddend},
    {"relu", FuseRelu},
    {"relu6", FuseRelu6},
    {"one-sided", FuseOneSided},
    {"to-f16", FuseToF16},
    {"remove-convert", FuseConvert},
    {"to-s8", FuseToS8},
    {"addend", FuseAddend},
    {"addend", FuseAddend},
    {"side-scale", FuseSideScale},
};

// cuDNN's convolutions of integers are of s8 and give s8 or f32.
absl::Status CheckIntegerCalls(const Computation& c) {
  for (const Instruction* i : c.Instructions()) {
    if (!IsForwardCall(*i) || i->shape().elements.empty()) continue;
    const ElementType result = i->shape().elements[0].type;
    bool integers = IsInteger(result), small = true;
    for (const int k : {0, 1}) {
      integers = integers || IsInteger(i->operand(k)->shape().type);
      small = small && i->operand(k)->shape().type == ElementType::kS8;
    }
    const bool float_to_s8 = IsFloat(i->operand(0)->shape().type) && result == ElementType::kS8;
    if (!integers || float_to_s8) continue;
    if (!small || (result != ElementType::kS8 && result != ElementType::kF32))
      return Unimplemented("%", i->name(),
                           " convolves integers otherwise than from s8 to s8 or f32, which cuDNN "
                           "cannot");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> FuseConvolutions(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (const ConvolutionStep& step : kConvolutionSteps) {
    std::vector<Instruction*> fused;
    for (Instruction* i : c.PostOrder()) {
      if (!i->shape().IsArray() || i->operand_count() == 0) continue;
      Rewriter r(c);
      r.set_subject(i);
      Instruction* made = step.apply(i, r);
      const bool takes = made != nullptr && SameShape(made->shape(), i->shape()) &&
                         control.Permit(step.name, *i, *made);
      if (takes) {
        i->ReplaceAllUsesWith(made);
        fused.push_back(i);
        changed = true;
      } else if (made != nullptr) {
        c.RemoveIfDead(made);
      }
    }
    // What was fused counts as no reader any more; what was dead before stays and counts.
    for (Instruction* i : fused) c.RemoveIfDead(i);
  }
  RETURN_IF_ERROR(CheckIntegerCalls(c));
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateCudnnFusedConvolutionRewriter() {
  return MakeComputationPass("cudnn-fused-convolution-rewriter", FuseConvolutions);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
