// conv-fusion-rewriter: a convolution that has a kind becomes a fusion that cuDNN compiles, with
// what it has kernels for around it.
//   y = convolution(convert(x), convert(w)), convolution_kind=fprop;  relu(y + broadcast(bias))
//     ->  fusion(x, w, bias), kind=kCustom, {"fusion_backend_config":{"kind":"__cudnn$fusion"}}
// Before it: conversions of both operands from one narrower type, of floats to floats, of s8 to
// s32. After it, where features are the fastest dimension of the result: elementwise steps, as long
// as one value comes out. What these read besides is an array of the result's shape, a vector along
// its features or a scalar; broadcasts of the latter two and scalar constants come in too. bf16
// needs compute capability 8.0, floats of 8 bits 8.9. Sums may be rounded otherwise by what
// compiles the fusion; here values stay as they were. XLA's pass also fuses the maximum of absolute
// values beside a result of 8 bits, as a second result. Cost: linear in the module and, for each
// convolution, 16 steps each of which looks at what is before a side input.
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/convolution_calls.h"
#include "passes/gpu/fused_members.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/exact_types.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

constexpr size_t kMaxSteps = 16;
constexpr char kCudnnFusion[] = R"({"fusion_backend_config":{"kind":"__cudnn$fusion"}})";

bool IsCudnnType(ElementType type, int64_t capability) {
  if (type == ElementType::kBF16) return capability >= 80;
  if (IsFloat(type) && BitWidth(type) <= 8) return capability >= kFloat8Capability;
  return type == ElementType::kF16 || type == ElementType::kF32 || type == ElementType::kS8 ||
         type == ElementType::kS32 || type == ElementType::kPred;
}

class ConvolutionFusion {
 public:
  ConvolutionFusion(Instruction* convolution, int64_t capability)
      : convolution_(convolution), capability_(capability) {}

  // The fusion that takes the convolution's place and its steps'.
  void Run() {
    what_.computation = "conv_fusion_computation";
    what_.fusion = "conv_fusion";
    what_.members = {convolution_};
    steps_ = {convolution_};
    AddConversionsBefore();
    Instruction* result = convolution_;
    if (FeaturesAreFastest()) result = AddStepsAfter();
    FuseMembers(result, what_)->mutable_extras().backend_config = kCudnnFusion;
  }

 private:
  // Both operands' conversions, or none.
  void AddConversionsBefore() {
    const Instruction *x = convolution_->operand(0), *w = convolution_->operand(1);
    if (x->opcode() != Opcode::kConvert || w->opcode() != Opcode::kConvert || HasControlEdges(*x) ||
        HasControlEdges(*w))
      return;
    const ElementType from = x->operand(0)->shape().type, to = x->shape().type;
    if (w->operand(0)->shape().type != from || w->shape().type != to ||
        IsFloat(from) != IsFloat(to) || !HoldsAllValues(from, to) ||
        !IsCudnnType(from, capability_))
      return;
    what_.members.insert({x, w});
  }

  bool FeaturesAreFastest() const {
    const Shape& shape = convolution_->shape();
    return shape.has_layout && shape.rank() > 0 &&
           shape.layout.minor_to_major[0] ==
               convolution_->attr<ConvolutionAttrs>().dim_labels.output_feature &&
           IsCudnnType(shape.type, capability_);
  }

  // Takes in steps while the one that leaves values open is but one; gives that.
  Instruction* AddStepsAfter() {
    Instruction* result = convolution_;
    auto fused = what_.members;
    while (steps_.size() <= kMaxSteps) {
      Instruction* next = NextStep();
      if (next == nullptr) break;
      steps_.push_back(next);
      what_.members.insert(next);
      if (Instruction* only = OnlyOpenStep()) {
        result = only;
        fused = what_.members;
      }
    }
    what_.members = std::move(fused);
    return result;
  }

  // A step that reads steps, and besides them only what may come in.
  Instruction* NextStep() {
    for (Instruction* step : steps_)
      for (Instruction* user : step->users()) {
        if (what_.members.contains(user) || !IsStep(*user)) continue;
        std::vector<const Instruction*> brought;
        if (std::all_of(user->operands().begin(), user->operands().end(),
                        [&](Instruction* x) { return ComesIn(x, brought); })) {
          what_.members.insert(brought.begin(), brought.end());
          return user;
        }
      }
    return nullptr;
  }

  bool IsStep(const Instruction& i) const {
    return HasTrait(i.opcode(), kElementwise) && i.called().empty() && !HasControlEdges(i) &&
           i.shape().IsArray() && SameDims(i.shape(), convolution_->shape()) &&
           i.shape().layout == convolution_->shape().layout &&
           IsCudnnType(i.shape().type, capability_);
  }

  // Whether a step may read `x`; what is fused with it goes into `brought`.
  bool ComesIn(const Instruction* x, std::vector<const Instruction*>& brought) const {
    if (what_.members.contains(x)) return true;
    if (!x->shape().IsArray() || !IsCudnnType(x->shape().type, capability_) || NeedsAStep(x))
      return false;
    if (x->IsConstant() && x->shape().IsScalar()) {  // a bound of clamp
      brought.push_back(x);
      return true;
    }
    if (x->opcode() != Opcode::kBroadcast || HasControlEdges(*x))
      return x->shape().IsScalar() || SameDims(x->shape(), convolution_->shape());
    const DimVector& where = x->attr<BroadcastAttrs>().dimensions;
    const int64_t feature = convolution_->attr<ConvolutionAttrs>().dim_labels.output_feature;
    if (!where.empty() && (where.size() > 1 || where[0] != feature)) return true;  // as it is
    brought.push_back(x);
    if (x->operand(0)->IsConstant() && x->operand(0)->shape().IsScalar())
      brought.push_back(x->operand(0));
    return true;
  }

  // Through others, in which case it would wait for the fusion that waits for it.
  bool NeedsAStep(const Instruction* x) const {
    std::vector<bool> seen(x->module()->id_bound(), false);
    std::vector<const Instruction*> open = {x};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      if (std::find(steps_.begin(), steps_.end(), i) != steps_.end()) return true;
      for (auto before : {i->operands(), i->control_predecessors()})
        for (const Instruction* earlier : before) {
          if (seen[earlier->id()]) continue;
          seen[earlier->id()] = true;
          open.push_back(earlier);
        }
    }
    return false;
  }

  // The step that others read, or the root, if there is one such.
  Instruction* OnlyOpenStep() const {
    Instruction* only = nullptr;
    for (Instruction* step : steps_) {
      const auto users = step->users();
      const bool open =
          step->IsRoot() || std::any_of(users.begin(), users.end(), [&](const Instruction* user) {
            return !what_.members.contains(user);
          });
      if (!open) continue;
      if (only != nullptr) return nullptr;
      only = step;
    }
    return only;
  }

  Instruction* convolution_;
  int64_t capability_;
  FusedMembers what_;
  std::vector<Instruction*> steps_;  // the convolution and those after it
};

class ConvFusionRewriter final : public ComputationPass {
 public:
  explicit ConvFusionRewriter(int64_t capability) : capability_(capability) {}
  absl::string_view name() const override { return "conv-fusion-rewriter"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    std::vector<Instruction*> convolutions;
    for (Instruction* i : c.PostOrder())
      if (i->opcode() == Opcode::kConvolution &&
          i->attr<ConvolutionAttrs>().convolution_kind != ConvolutionKind::kUnset &&
          !HasControlEdges(*i) && control().Permit(name(), *i, *i))
        convolutions.push_back(i);
    for (Instruction* i : convolutions) ConvolutionFusion(i, capability_).Run();
    if (!convolutions.empty()) RemoveDead(c);
    return !convolutions.empty();
  }

 private:
  int64_t capability_;
};

}  // namespace

// conv-fusion-rewriter: see above. Option: `capability`, the GPU's compute capability times ten
// (80).
std::unique_ptr<Pass> CreateConvFusionRewriter(PassArguments& arguments) {
  return std::make_unique<ConvFusionRewriter>(
      arguments.Int("capability", 80, "the GPU's compute capability times 10"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
