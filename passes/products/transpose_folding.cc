// transpose-folding: folds transposes and widening converts into the operands of dots.
// Matches dots of an operand that is transposed in its row and its one contracted dimension, the
// batch dimensions in their places; transposes that swap a dot's two sides; and f32 dots of
// operands both widened from bf16 or f16 (products of such numbers are exact in f32, where sums are
// formed in any case). The option `matrices` leaves products with a vector alone, as XLA's CPU
// compiler, whose kernels for those read rows. The option `any` also takes transposes whose free
// dimensions keep their order, as the cpu pipeline wants, and looks through reshapes that leave out
// dimensions of size one. Leaves dots with other dimension numbers, and dead code. Cost: linear.
//   dot(transpose(a), b), contracting {1} and {0}  ->  dot(a, b), contracting {0} and {0}
//   dot(reshape(transpose(f32[1,4,8] a)), b)       ->  dot(reshape(a), b), reshape to f32[4,8]
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "support/status.h"

namespace hlokit {
namespace {

const DimVector& Permutation(const Instruction* i) { return i->attr<DimensionsAttrs>().dimensions; }

// Whether a transpose exchanges a row and a column, and leaves batch dimensions alone.
bool SwapsRowAndColumn(const DimVector& perm, const DimVector& batch,
                       const DimVector& contracting) {
  if (contracting.size() != 1 || batch.size() + 2 != perm.size()) return false;
  return std::all_of(batch.begin(), batch.end(), [&](int64_t d) { return perm[d] == d; }) &&
         !std::is_sorted(perm.begin(), perm.end());
}

// The dimensions of `from` that `to` has too, which leaves out some of size one; none where it does
// something else.
DimVector KeptDims(const Shape& from, const Shape& to) {
  DimVector kept;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const auto next = static_cast<int64_t>(kept.size());
    if (next < to.rank() && from.dims[d] == to.dims[next]) {
      kept.push_back(d);
    } else if (from.dims[d] != 1) {
      return {};
    }
  }
  return std::ssize(kept) == to.rank() ? kept : DimVector();
}

// A reshape of a transpose that leaves out dimensions of size one becomes a transpose of a reshape.
void LiftTranspose(Instruction* dot, int64_t side) {
  Instruction* const reshape = dot->operand(side);
  if (reshape->opcode() != Opcode::kReshape) return;
  const Instruction* const transpose = reshape->operand(0);
  if (transpose->opcode() != Opcode::kTranspose || transpose->shape().HasDynamicDims()) return;
  const DimVector kept = KeptDims(transpose->shape(), reshape->shape());
  if (kept.empty()) return;
  DimVector from;  // dimensions of what is transposed, in their order
  for (const int64_t d : kept) from.push_back(Permutation(transpose)[d]);
  std::sort(from.begin(), from.end());
  Shape inner = Shape::Array(reshape->shape().type, {});
  for (const int64_t d : from) inner.dims.push_back(transpose->operand(0)->shape().dims[d]);
  DimVector permutation;
  for (const int64_t d : kept)
    permutation.push_back(std::find(from.begin(), from.end(), Permutation(transpose)[d]) -
                          from.begin());
  Computation& c = *dot->parent();
  Instruction* const first =
      c.Add(Opcode::kReshape, Shape::Array(inner.type, inner.dims), {transpose->operand(0)});
  dot->SetOperand(side, c.Add(Opcode::kTranspose, Shape::Array(inner.type, reshape->shape().dims),
                              {first}, DimensionsAttrs{permutation}));
  c.RemoveIfDead(reshape);
}

// Whether each side of the dot has a dimension that is neither batch nor summed over.
bool HasMatrices(const Instruction* dot) {
  const DotAttrs& attrs = dot->attr<DotAttrs>();
  const size_t shared = attrs.lhs_batch_dims.size() + attrs.lhs_contracting_dims.size();
  return dot->operand(0)->shape().dims.size() > shared &&
         dot->operand(1)->shape().dims.size() > shared;
}

struct FoldingOptions {
  bool any = false, matrices = false;
};

bool FoldOperand(Instruction* dot, int64_t side, const FoldingOptions& options) {
  if (options.any) LiftTranspose(dot, side);
  Instruction* transpose = dot->operand(side);
  if (transpose->opcode() != Opcode::kTranspose) return false;
  if (options.matrices && !HasMatrices(dot)) return false;
  DotAttrs& attrs = dot->mutable_attr<DotAttrs>();
  DimVector& batch = side == 0 ? attrs.lhs_batch_dims : attrs.rhs_batch_dims;
  DimVector& contracting = side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims;
  const DimVector& perm = Permutation(transpose);
  if (!options.any && !SwapsRowAndColumn(perm, batch, contracting)) return false;
  int64_t last = -1;
  for (int64_t d = 0; d < transpose->shape().rank(); ++d) {
    if (Contains(batch, d) || Contains(contracting, d)) continue;
    if (perm[d] < last) return false;  // the result's dimensions would change their order
    last = perm[d];
  }
  for (int64_t& d : batch) d = perm[d];
  for (int64_t& d : contracting) d = perm[d];
  dot->SetOperand(side, transpose->operand(0));
  dot->parent()->RemoveIfDead(transpose);
  return true;
}

// transpose(dot(a, b)) that only puts b's free dimensions before a's is dot(b, a).
bool FoldResult(Instruction* transpose) {
  Instruction* dot = transpose->operand(0);
  if (dot->opcode() != Opcode::kDot || dot->users().size() != 1) return false;
  const DotAttrs& attrs = dot->attr<DotAttrs>();
  const auto batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  const auto contracting = static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  const int64_t left = dot->operand(0)->shape().rank() - batch - contracting;
  const int64_t right = dot->operand(1)->shape().rank() - batch - contracting;
  DimVector swapped;
  for (int64_t d = 0; d < batch; ++d) swapped.push_back(d);
  for (int64_t d = 0; d < right; ++d) swapped.push_back(batch + left + d);
  for (int64_t d = 0; d < left; ++d) swapped.push_back(batch + d);
  if (Permutation(transpose) != swapped) return false;
  Instruction* made = transpose->parent()->Add(
      dot->CloneWith(transpose->shape(), {dot->operand(1), dot->operand(0)}));
  DotAttrs& mirrored = made->mutable_attr<DotAttrs>();
  std::swap(mirrored.lhs_batch_dims, mirrored.rhs_batch_dims);
  std::swap(mirrored.lhs_contracting_dims, mirrored.rhs_contracting_dims);
  if (mirrored.operand_precision.size() == 2)
    std::swap(mirrored.operand_precision[0], mirrored.operand_precision[1]);
  transpose->ReplaceAllUsesWith(made);
  made->parent()->RemoveIfDead(transpose);
  return true;
}

bool IsWidened(const Instruction* x, ElementType from) {
  return x->opcode() == Opcode::kConvert && x->shape().type == ElementType::kF32 &&
         x->operand(0)->shape().type == from;
}

bool FoldConverts(Instruction* dot) {
  if (dot->shape().type != ElementType::kF32 || !dot->attr<DotAttrs>().algorithm.text.empty())
    return false;
  for (ElementType from : {ElementType::kBF16, ElementType::kF16}) {
    if (!IsWidened(dot->operand(0), from) || !IsWidened(dot->operand(1), from)) continue;
    for (int side : {0, 1}) {
      Instruction* convert = dot->operand(side);
      dot->SetOperand(side, convert->operand(0));
      dot->parent()->RemoveIfDead(convert);
    }
    return true;
  }
  return false;
}

absl::StatusOr<bool> FoldAll(Computation& computation, const FoldingOptions& options) {
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() == Opcode::kTranspose && (i->IsRoot() || !i->users().empty()))
      changed |= FoldResult(i);
  }
  std::vector<Instruction*> dots = computation.Instructions();
  std::erase_if(dots, [](const Instruction* i) { return i->opcode() != Opcode::kDot; });
  for (Instruction* i : dots) {
    bool again = true;
    while (again) {  // a convert may hide a transpose, and the other way round
      again = FoldConverts(i);
      for (int side : {0, 1}) again |= FoldOperand(i, side, options);
      changed |= again;
    }
  }
  return changed;
}

class TransposeFolding final : public ComputationPass {
 public:
  explicit TransposeFolding(const FoldingOptions& options) : options_(options) {}
  absl::string_view name() const override { return "transpose-folding"; }
  absl::StatusOr<bool> RunOnComputation(Computation& computation) override {
    return FoldAll(computation, options_);
  }

 private:
  const FoldingOptions options_;
};

}  // namespace

std::unique_ptr<Pass> CreateTransposeFolding(PassArguments& arguments) {
  FoldingOptions options;
  options.any = arguments.Flag("any", "also transposes of batch and of several dimensions");
  options.matrices =
      arguments.Flag("matrices", "not into products with a vector, as XLA's CPU compiler");
  return std::make_unique<TransposeFolding>(options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
