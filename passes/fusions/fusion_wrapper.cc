// fusion-wrapper and dot-library-rewriter: single instructions as fusions.
//   n = f32[8] negate(x)  ->  wrapped_negate = f32[8] fusion(x), kind=kLoop, calls={negate}
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

constexpr char kYnnConfig[] =
    R"({"outer_dimension_partitions":[],"fusion_config":{"kind":"__ynn_fusion"}})";

struct Wrapping {
  std::string fusion, computation;  // their names
  FusionKind kind = FusionKind::kLoop;
};

// The fusion in the place of `i`; an operand that comes twice is one parameter.
Instruction* Wrap(Instruction* i, const Wrapping& how) {
  Computation* body = i->module()->AddComputation(how.computation);
  std::vector<Instruction*> outside, inside;
  for (Instruction* operand : i->operands()) {
    const auto seen = std::find(outside.begin(), outside.end(), operand);
    if (seen != outside.end()) {
      inside.push_back(body->parameter(seen - outside.begin()));
      continue;
    }
    const auto number = static_cast<int64_t>(outside.size());
    inside.push_back(body->AddParameter(number, operand->shape(), absl::StrCat("param_", number)));
    outside.push_back(operand);
  }
  body->set_root(body->Add(i->CloneWith(i->shape(), inside), i->name()));
  FusionAttrs attrs;
  attrs.kind = how.kind;
  Instruction* fusion =
      i->parent()->Add(Opcode::kFusion, i->shape(), outside, std::move(attrs), how.fusion);
  fusion->set_called({body});
  fusion->CopyExtrasFrom(*i);
  i->ReplaceAllUsesWith(fusion);
  PassOnControlEdges(i, fusion, /*is_new=*/true);
  i->parent()->Remove(i);
  return fusion;
}

bool IsReadArray(const Instruction* i) {
  return i->shape().IsArray() && !i->shape().HasDynamicDims() &&
         (i->IsRoot() || !i->users().empty());
}

bool Wraps(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kMap:
    case Opcode::kConvolution:
      return true;
    case Opcode::kCopy:
    case Opcode::kBitcast:
    case Opcode::kReshape:
      return false;
    default:
      return HasTrait(i->opcode(), kElementwise) || HasTrait(i->opcode(), kMovesData);
  }
}

// A transpose whose result lies in memory as its operand does.
bool MovesNothing(const Instruction& transpose) {
  const DimVector& from = transpose.attr<DimensionsAttrs>().dimensions;
  const auto of_operand = transpose.operand(0)->shape().MinorToMajor();
  const auto of_result = transpose.shape().MinorToMajor();
  for (size_t k = 0; k < of_operand.size(); ++k)
    if (from[of_result[k]] != of_operand[k]) return false;
  return true;
}

// As XLA calls fusions by what their result is made of.
FusionKind KindOf(const Instruction* i) {
  return i->opcode() == Opcode::kReduce || i->opcode() == Opcode::kScatter ? FusionKind::kInput
                                                                           : FusionKind::kLoop;
}

// What XLA's CPU compiler wraps: no convolutions, for which it has a library, nor transposes that
// leave memory as it is, but copies that do not, and windows over several arrays.
bool WrapsOnCpu(const Instruction* i) {
  if (i->opcode() == Opcode::kReduceWindow) return i->IsRoot() || !i->users().empty();
  if (!IsReadArray(i)) return false;
  switch (i->opcode()) {
    case Opcode::kConvolution:
      return false;
    case Opcode::kCopy:
      return i->shape().MinorToMajor() != i->operand(0)->shape().MinorToMajor();
    case Opcode::kTranspose:
      return !MovesNothing(*i);
    default:
      return Wraps(i);
  }
}

class FusionWrapper final : public ComputationPass {
 public:
  explicit FusionWrapper(bool cpu) : cpu_(cpu) {}
  absl::string_view name() const override { return "fusion-wrapper"; }
  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    bool changed = false;
    for (Instruction* i : computation.PostOrder()) {
      if (!(cpu_ ? WrapsOnCpu(i) : IsReadArray(i) && Wraps(i)) || !control().Permit(name(), *i, *i))
        continue;
      const std::string wrapped = absl::StrCat("wrapped_", Text(i->opcode()));
      Wrap(i, {wrapped, absl::StrCat(wrapped, "_computation"), KindOf(i)});
      changed = true;
    }
    return changed;
  }

 private:
  bool cpu_;
};

// What XLA's library takes: larger batches, and single columns of f64, it leaves alone.
bool HasLibraryForm(const Instruction* i) {
  if (i->opcode() != Opcode::kDot || i->operand_count() != 2) return false;
  const DotAttrs& attrs = i->attr<DotAttrs>();
  const Shape &lhs = i->operand(0)->shape(), &rhs = i->operand(1)->shape();
  const auto batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  if (attrs.lhs_contracting_dims.size() != 1 || lhs.rank() != batch + 2 ||
      rhs.rank() != batch + 2 || !IsIota(attrs.lhs_batch_dims) || !IsIota(attrs.rhs_batch_dims) ||
      attrs.lhs_contracting_dims[0] != batch + 1 || !attrs.algorithm.text.empty())
    return false;
  constexpr int64_t kMaxBatches = 4;
  int64_t batches = 1;
  for (int64_t d = 0; d < batch; ++d) batches *= lhs.dims[d];
  const bool types = (lhs.type == ElementType::kF32 && i->shape().type == ElementType::kF32) ||
                     (lhs.type == ElementType::kF64 && i->shape().type == ElementType::kF64) ||
                     (lhs.type == ElementType::kS8 && i->shape().type == ElementType::kS32);
  return types && rhs.type == lhs.type && batches <= kMaxBatches && i->shape().dims.back() > 1 &&
         lhs.IsRowMajor() && rhs.IsRowMajor();
}

absl::StatusOr<bool> WrapDots(Computation& computation, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (!IsReadArray(i) || !HasLibraryForm(i) || !control.Permit("dot-library-rewriter", *i, *i))
      continue;
    Instruction* fusion = Wrap(i, {"ynn_fusion", "fused_computation", FusionKind::kCustom});
    fusion->mutable_extras().backend_config = kYnnConfig;
    changed = true;
  }
  return changed;
}

}  // namespace

// fusion-wrapper. Matches elementwise instructions, data movement, reductions, scatters and
// convolutions that stand outside fusions; leaves a fusion of the one instruction, named
// wrapped_OP, for reductions and scatters of kind kInput. Constants, tuples, bitcasts, copies and
// dots stay. Option `cpu`: what XLA's CPU compiler wraps, which has a pass of the same name: no
// convolutions, but copies between layouts. Cost: linear.
std::unique_ptr<Pass> CreateFusionWrapper(PassArguments& arguments) {
  return std::make_unique<FusionWrapper>(
      arguments.Flag("cpu", "what XLA's CPU compiler wraps, not its GPU compiler"));
}

// dot-library-rewriter. Matches products, rows by columns, of f32, f64 and s8 in the plain form
// whose left side is contracted along its last dimension; leaves a custom fusion marked
// __ynn_fusion, as XLA does for its matrix library. Cost: linear.
std::unique_ptr<Pass> CreateDotLibraryRewriter() {
  return MakeComputationPass("dot-library-rewriter", WrapDots);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
