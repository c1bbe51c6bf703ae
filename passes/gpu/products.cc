// Operands of dots, in the order and the types that a GPU's matrix units take.
//   fusion{dot(a, convert(b))}  ->  fusion{bitcast(dot(convert(b), a))}
#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr int64_t kTileRows = 64;  // what a warp group multiplies at once, of the left operand

bool IsGemmFusion(const Instruction& i) {
  if (i.opcode() != Opcode::kFusion || i.attr<FusionAttrs>().kind != FusionKind::kCustom)
    return false;
  const BackendConfig fusion(BackendConfig::Of(i).Raw("fusion_backend_config"));
  const absl::string_view kind = fusion.Text("kind");
  return kind == "__triton_gemm" || kind == "__triton" || kind == "__triton_nested_gemm_fusion";
}

// Whether an operand is computed on the way: what only renames or rearranges elements is not.
bool IsComputed(const Instruction* i) {
  while (i->operand_count() > 0) {
    switch (i->opcode()) {
      case Opcode::kBitcast:
      case Opcode::kBroadcast:
      case Opcode::kGetTupleElement:
      case Opcode::kReshape:
      case Opcode::kTranspose:
        i = i->operand(0);
        break;
      default:
        return true;
    }
  }
  return false;
}

bool ShouldSwap(const Instruction& dot) {
  const auto& attrs = dot.attr<DotAttrs>();
  const int64_t left = FreeElements(dot.operand(0)->shape().dims,
                                    {attrs.lhs_batch_dims, attrs.lhs_contracting_dims});
  const int64_t right = FreeElements(dot.operand(1)->shape().dims,
                                     {attrs.rhs_batch_dims, attrs.rhs_contracting_dims});
  if (right < kTileRows) return false;
  return left < kTileRows || (!IsComputed(dot.operand(0)) && IsComputed(dot.operand(1)));
}

void Swap(Instruction* dot) {
  Computation& c = *dot->parent();
  DotAttrs attrs = dot->attr<DotAttrs>();
  const Shape& shape = dot->shape();
  const int64_t batch = attrs.lhs_batch_dims.size();
  const int64_t left = dot->operand(0)->shape().rank() - batch -
                       static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  DimVector from;  // which of the old dimensions a new one is
  for (int64_t d = 0; d < batch; ++d) from.push_back(d);
  for (int64_t d = batch + left; d < shape.rank(); ++d) from.push_back(d);
  for (int64_t d = batch; d < batch + left; ++d) from.push_back(d);
  DimVector dims, order, place(from.size());
  for (size_t k = 0; k < from.size(); ++k) {
    dims.push_back(shape.dims[from[k]]);
    place[from[k]] = static_cast<int64_t>(k);
  }
  for (const int64_t d : shape.MinorToMajor()) order.push_back(place[d]);
  std::swap(attrs.lhs_batch_dims, attrs.rhs_batch_dims);
  std::swap(attrs.lhs_contracting_dims, attrs.rhs_contracting_dims);
  if (!attrs.operand_precision.empty()) {
    attrs.operand_precision.resize(2);
    std::swap(attrs.operand_precision[0], attrs.operand_precision[1]);
  }
  Instruction* swapped = c.Add(Opcode::kDot, Shape::ArrayWithLayout(shape.type, dims, order),
                               {dot->operand(1), dot->operand(0)}, std::move(attrs));
  swapped->set_metadata(dot->shared_metadata());
  Instruction* result = c.Add(Opcode::kBitcast, shape, {swapped});
  result->set_metadata(dot->shared_metadata());
  dot->ReplaceAllUsesWith(result);
  c.Remove(dot);
}

absl::StatusOr<bool> SwapOperands(Module& module) {
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder()) {
      if (!IsGemmFusion(*i)) continue;
      for (Instruction* inner : i->to_apply()->PostOrder()) {
        if (inner->opcode() != Opcode::kDot) continue;
        if (ShouldSwap(*inner)) {
          Swap(inner);
          changed = true;
        }
        break;  // the first dot alone
      }
    }
  return changed;
}

// ---- algorithms

bool IsF32(const Instruction& i) {
  return i.shape().type == ElementType::kF32 && i.operand(0)->shape().type == ElementType::kF32 &&
         i.operand(1)->shape().type == ElementType::kF32;
}

bool HasDefaultPrecision(const Instruction& i) {
  return absl::c_all_of(i.attr<DotAttrs>().operand_precision,
                        [](Precision p) { return p == Precision::kDefault; });
}

// A dot of f32 as dots of parts of its operands: part 0 holds the leading bits, each further one
// what those before it leave.
struct Split {
  absl::string_view algorithm, each;  // what the dot asks for, and each of the dots
  uint32_t mask;                      // the bits of an f32 that one part holds
  int parts;
  std::vector<std::pair<int, int>> products;  // smallest first; (0, 0) follows them
};

const std::vector<Split>& Splits() {
  static const auto* splits = new std::vector<Split>{
      {"dot_bf16_bf16_f32", "dot_bf16_bf16_f32", 0xFFFF0000, 1, {}},
      {"dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32", 0xFFFF0000, 2, {{1, 0}, {0, 1}}},
      {"dot_bf16_bf16_f32_x6",
       "dot_bf16_bf16_f32",
       0xFFFF0000,
       3,
       {{1, 1}, {0, 2}, {2, 0}, {0, 1}, {1, 0}}},
      {"dot_bf16_bf16_f32_x9",
       "dot_bf16_bf16_f32",
       0xFFFF0000,
       3,
       {{2, 2}, {2, 1}, {1, 2}, {1, 1}, {0, 2}, {2, 0}, {0, 1}, {1, 0}}},
      {"dot_tf32_tf32_f32_x3", "dot_tf32_tf32_f32", 0xFFFFE000, 2, {{1, 0}, {0, 1}}}};
  return *splits;
}

Instruction* KeepBits(HloWriter& w, Instruction* x, uint32_t mask) {
  Instruction* bits = w.Bitcast(x, ElementType::kU32);
  return w.Bitcast(w.Binary(Opcode::kAnd, bits, w.FillInteger(bits->shape(), mask)),
                   ElementType::kF32);
}

std::vector<Instruction*> PartsOf(HloWriter& w, Instruction* x, const Split& split) {
  const bool is_bf16 = split.mask == 0xFFFF0000;
  std::vector<Instruction*> parts;
  Instruction* rest = x;
  for (int k = 0; k < split.parts; ++k) {
    Instruction* part = rest;
    if (k + 1 < split.parts) {
      part = KeepBits(w, rest, split.mask);
      rest = w.Binary(Opcode::kSubtract, rest, part);
    }
    parts.push_back(is_bf16 ? w.Convert(part, ElementType::kBF16) : part);
  }
  return parts;
}

// 0 where x is no finite number or infinity: infinity times the 0 that a small part is, which must
// not spoil the leading product.
Instruction* WithoutNans(HloWriter& w, Instruction* x) {
  Instruction* infinity = w.FillNumber(x->shape(), std::numeric_limits<double>::infinity());
  Instruction* is_number = w.Compare(infinity, w.Unary(Opcode::kAbs, x), ComparisonDirection::kGe);
  return w.Select(is_number, x, w.FillNumber(x->shape(), 0));
}

absl::StatusOr<Instruction*> RewriteAlgorithm(Instruction* i, Rewriter& r, bool bf16_by_default) {
  if (i->opcode() != Opcode::kDot || !IsF32(*i)) return nullptr;
  absl::string_view algorithm = i->attr<DotAttrs>().algorithm.text;
  if (algorithm.empty() && bf16_by_default && HasDefaultPrecision(*i))
    algorithm = "dot_bf16_bf16_f32";
  const auto split = absl::c_find_if(
      Splits(), [algorithm](const Split& known) { return known.algorithm == algorithm; });
  if (split == Splits().end()) return nullptr;
  HloWriter w(r);
  const std::vector<Instruction*> left = PartsOf(w, i->operand(0), *split);
  const std::vector<Instruction*> right = PartsOf(w, i->operand(1), *split);
  const auto dot = [&](int a, int b) {
    Instruction* made = r.Clone(i, i->shape(), {left[a], right[b]});
    made->mutable_attr<DotAttrs>().algorithm.text = std::string(split->each);
    return made;
  };
  Instruction* sum = nullptr;
  for (const auto& [a, b] : split->products) {
    Instruction* product = dot(a, b);
    sum = sum == nullptr ? product : w.Binary(Opcode::kAdd, sum, product);
  }
  Instruction* leading = dot(0, 0);
  return sum == nullptr ? leading : w.Binary(Opcode::kAdd, WithoutNans(w, sum), leading);
}

}  // namespace

// gemm-fusion-swap-operands: the first dot of a fusion for Triton gets its operands swapped where
// the left one has fewer than 64 rows and the right one has not, or where the right one alone is
// computed in the fusion: matrix units take the left one from registers. Exact.
std::unique_ptr<Pass> CreateGemmFusionSwapOperands() {
  return MakeModulePass("gemm-fusion-swap-operands", SwapOperands);
}

// dot-algorithm-rewriter: a dot of f32 of the algorithm dot_bf16_bf16_f32 reads its operands as
// bf16; one of its kinds x3, x6 and x9, and of dot_tf32_tf32_f32_x3, becomes the sum of dots of
// parts of the operands, the smallest first. Option `default-bf16`: a dot without an algorithm and
// of default precision is computed in bf16 too. Rounds as the algorithm says.
std::unique_ptr<Pass> CreateDotAlgorithmRewriter(PassArguments& arguments) {
  const bool by_default = arguments.Flag(
      "default-bf16", "dots of f32 that name no algorithm are computed in bf16 as well");
  return MakeExpander("dot-algorithm-rewriter", [by_default](Instruction* i, Rewriter& r) {
    return RewriteAlgorithm(i, r, by_default);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
