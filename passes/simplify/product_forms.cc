// XLA's forms of products, and movements that cancel out over several steps.
//   dot(reshape(transpose(a)), constant)  ->  dot(reshape(a), reordered constant)
//   dot(transpose(a), transpose(b))       ->  transpose(dot(b, a))
//   dot(matrix, vector)                   ->  reduce(matrix * broadcast(vector))
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "ops/dim_lists.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/swapped_convolution.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

const DimVector& Permutation(const Instruction* i) { return i->attr<DimensionsAttrs>().dimensions; }

// Where dimension `d` of a reshape's result comes from: the dimensions from `begin` to `end` of its
// operand. Nothing where other dimensions are not the same before and after them.
struct Group {
  int64_t begin, end;
};
std::optional<Group> MergedInto(const Shape& from, const Shape& to, int64_t d) {
  const int64_t after = to.rank() - d - 1, end = from.rank() - after;
  if (end <= d) return std::nullopt;
  for (int64_t k = 0; k < d; ++k)
    if (from.dims[k] != to.dims[k]) return std::nullopt;
  for (int64_t k = 0; k < after; ++k)
    if (from.dims[end + k] != to.dims[d + 1 + k]) return std::nullopt;
  int64_t size = 1;  // without elements the other dimensions say nothing of it
  for (int64_t k = d; k < end; ++k) size *= from.dims[k];
  if (size != to.dims[d]) return std::nullopt;
  return Group{d, end};
}

// True if the permutation only moves dimensions of the group among each other.
bool ShufflesOnly(const DimVector& permutation, Group group) {
  for (int64_t d = 0; d < static_cast<int64_t>(permutation.size()); ++d) {
    const bool inside = group.begin <= d && d < group.end;
    if (inside ? permutation[d] < group.begin || permutation[d] >= group.end : permutation[d] != d)
      return false;
  }
  return !std::is_sorted(permutation.begin(), permutation.end());
}

// The terms of a sum in another order: what is transposed within the summed dimension stays as it
// is, and the constant that it meets is reordered instead.
Instruction* DotOfShuffledTerms(Instruction* i, Rewriter& r) {
  const DotAttrs& attrs = i->attr<DotAttrs>();
  if (!attrs.lhs_batch_dims.empty() || attrs.lhs_contracting_dims.size() != 1) return nullptr;
  for (const int64_t side : {0, 1}) {
    const Instruction* reshape = i->operand(side);
    Instruction* constant = i->operand(1 - side);
    if (!Is(reshape, Opcode::kReshape) || !Is(reshape->operand(0), Opcode::kTranspose) ||
        !constant->IsConstant())
      continue;
    const Instruction* transpose = reshape->operand(0);
    const int64_t d = (side == 0 ? attrs.lhs_contracting_dims : attrs.rhs_contracting_dims)[0];
    const int64_t c = (side == 0 ? attrs.rhs_contracting_dims : attrs.lhs_contracting_dims)[0];
    const auto group = MergedInto(transpose->shape(), reshape->shape(), d);
    if (!group || !ShufflesOnly(Permutation(transpose), *group)) continue;
    HloWriter w(r);
    const DimVector& dims = constant->shape().dims;
    DimVector split(dims.begin(), dims.begin() + c), order;
    for (int64_t k = group->begin; k < group->end; ++k) split.push_back(transpose->shape().dims[k]);
    split.insert(split.end(), dims.begin() + c + 1, dims.end());
    for (int64_t k = 0; k < static_cast<int64_t>(split.size()); ++k) order.push_back(k);
    for (int64_t k = group->begin; k < group->end; ++k)
      order[c + Permutation(transpose)[k] - group->begin] = c + k - group->begin;
    Instruction* operands[2];
    operands[side] = r.Reshape(transpose->operand(0), reshape->shape());
    operands[1 - side] = w.Reshape(w.Transpose(w.Reshape(constant, split), order), dims);
    return r.Clone(i, i->shape(), operands);
  }
  return nullptr;
}

// The operand with its batch dimensions first, then those that are neither, then the summed ones.
Instruction* Ordered(Instruction* x, const DimVector& batch, const DimVector& summed,
                     HloWriter& w) {
  DimVector order = batch;
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!Contains(batch, d) && !Contains(summed, d)) order.push_back(d);
  order.insert(order.end(), summed.begin(), summed.end());
  return w.Transpose(x, order);
}

// Of operands that have no dimensions of their own: of both, or of one.
Instruction* SumOfProducts(Instruction* i, bool both, Rewriter& r) {
  const DotAttrs& attrs = i->attr<DotAttrs>();
  const auto batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  const auto summed = static_cast<int64_t>(attrs.lhs_contracting_dims.size());
  const ElementType type = i->shape().type;
  if (i->operand_count() != 2 || summed == 0 || !attrs.algorithm.text.empty() ||
      (!IsFloat(type) && !IsComplex(type) && !IsInteger(type)))
    return nullptr;
  const bool vector[] = {i->operand(0)->shape().rank() == batch + summed,
                         i->operand(1)->shape().rank() == batch + summed};
  if ((!vector[0] && !vector[1]) || both != (vector[0] && vector[1])) return nullptr;
  for (const Instruction* x : i->operands())
    if (x->shape().HasDynamicDims() || x->shape().ElementCount() == 0) return nullptr;
  HloWriter w(r);
  Instruction* sides[] = {
      w.Convert(Ordered(i->operand(0), attrs.lhs_batch_dims, attrs.lhs_contracting_dims, w), type),
      w.Convert(Ordered(i->operand(1), attrs.rhs_batch_dims, attrs.rhs_contracting_dims, w), type)};
  const int whole = vector[0] ? 1 : 0;
  const int64_t rank = sides[whole]->shape().rank();
  DimVector where, over;
  for (int64_t d = 0; d < batch; ++d) where.push_back(d);
  for (int64_t d = rank - summed; d < rank; ++d) {
    where.push_back(d);
    over.push_back(d);
  }
  if (rank != batch + summed)
    sides[1 - whole] = w.Broadcast(sides[1 - whole], sides[whole]->shape().dims, where);
  Computation* sum = MakeReducer(*i->module(), Opcode::kAdd, type);
  return w.Reduce(w.Binary(Opcode::kMultiply, sides[0], sides[1]), w.Integer(type, 0), over, sum);
}

Instruction* DotOfVectors(Instruction* i, Rewriter& r) { return SumOfProducts(i, true, r); }
Instruction* DotOfVector(Instruction* i, Rewriter& r) { return SumOfProducts(i, false, r); }

// Transposes, and reshapes that only add and drop dimensions of size one, that cancel out.
Instruction* MovedBack(Instruction* i, Rewriter&) {
  DimVector order;  // of the dimensions of more than one element, as `x` has them
  for (int64_t d = 0; d < i->shape().rank(); ++d)
    if (i->shape().dims[d] != 1) order.push_back(static_cast<int64_t>(order.size()));
  const DimVector wanted = order;
  Instruction* x = i;
  for (int step = 0; step < 8; ++step) {
    if (Is(x, Opcode::kTranspose)) {
      const Shape& from = x->operand(0)->shape();
      DimVector number(from.rank(), -1);
      int64_t next = 0;
      for (int64_t d = 0; d < from.rank(); ++d)
        if (from.dims[d] != 1) number[d] = next++;
      DimVector before(order.size());
      int64_t at = 0;
      for (const int64_t d : Permutation(x))
        if (from.dims[d] != 1) before[number[d]] = order[at++];
      order = before;
    } else if (!Is(x, Opcode::kReshape) || !SameWithoutOnes(x->operand(0)->shape(), x->shape())) {
      return nullptr;
    }
    x = x->operand(0);
    if (step > 0 && order == wanted && SameShape(x->shape(), i->shape())) return x;
  }
  return nullptr;
}

// x plus zeros that were updated and reshaped, by dimensions of size one: the update is reshaped.
Instruction* AddReshapedUpdate(Instruction* i, Rewriter& r) {
  for (const int64_t k : {0, 1}) {
    const Instruction* reshape = i->operand(k);
    if (!Is(reshape, Opcode::kReshape) || reshape->users().size() != 1) continue;
    const Instruction* update = reshape->operand(0);
    if (!Is(update, Opcode::kDynamicUpdateSlice) || update->users().size() != 1 ||
        !IsSplat(update->operand(0), 0) || update->operand_count() <= 2 ||
        update->operand_count() != 2 + update->shape().rank() ||
        !SameWithoutOnes(update->shape(), reshape->shape()))
      continue;
    HloWriter w(r);
    const DimVector map = MapWithoutOnes(update->shape(), reshape->shape());
    Instruction* zero = w.Integer(update->operand(2)->shape().type, 0);
    DimVector dims(reshape->shape().rank(), 1);
    std::vector<Instruction*> starts(dims.size(), zero);
    for (int64_t d = 0; d < update->shape().rank(); ++d) {
      if (map[d] < 0) continue;
      dims[map[d]] = update->operand(1)->shape().dims[d];
      starts[map[d]] = update->operand(2 + d);
    }
    std::vector<Instruction*> operands = {r.Splat(reshape->shape(), 0),
                                          w.Reshape(update->operand(1), dims)};
    operands.insert(operands.end(), starts.begin(), starts.end());
    Instruction* sides[] = {i->operand(0), i->operand(1)};
    sides[k] = r.Clone(update, reshape->shape(), operands);
    return r.Clone(i, i->shape(), sides);
  }
  return nullptr;
}

// True if the transpose exchanges the last two dimensions and moves the others, `batch` of them,
// among each other alone.
bool SwapsLastTwo(const Instruction* i, int64_t batch) {
  if (!Is(i, Opcode::kTranspose) || i->shape().rank() != batch + 2) return false;
  const DimVector& order = Permutation(i);
  return order[batch] == batch + 1 && order[batch + 1] == batch;
}

// True if a user says that devices have not yet added their parts of `i`: partitioning reads that
// off the dot that it stands beside.
bool IsUnreduced(const Instruction* i) {
  return std::any_of(i->users().begin(), i->users().end(), [](const Instruction* user) {
    return Is(user, Opcode::kCustomCall) && user->attr<CustomCallAttrs>().target == "Sharding" &&
           user->sharding() != nullptr &&
           (user->sharding()->kind == Sharding::Kind::kUnreduced ||
            absl::StrContains(user->sharding()->text, "unreduced"));
  });
}

// dot(transpose(a), transpose(b)) is transpose(dot(b, a)), of matrices, one or many.
Instruction* DotOfTransposes(Instruction* i, Rewriter& r) {
  const DotAttrs& attrs = i->attr<DotAttrs>();
  const auto batch = static_cast<int64_t>(attrs.lhs_batch_dims.size());
  const Instruction *a = i->operand(0), *b = i->operand(1);
  if (i->operand_count() != 2 || !SwapsLastTwo(a, batch) || !SwapsLastTwo(b, batch) ||
      Permutation(a) != Permutation(b) || !IsIota(attrs.lhs_batch_dims) ||
      !IsIota(attrs.rhs_batch_dims) || attrs.lhs_contracting_dims != DimVector{batch + 1} ||
      attrs.rhs_contracting_dims != DimVector{batch} || !attrs.algorithm.text.empty() ||
      IsUnreduced(i))
    return nullptr;
  Shape shape = i->shape();
  for (int64_t d = 0; d < shape.rank(); ++d) shape.dims[Permutation(a)[d]] = i->shape().dims[d];
  shape.has_layout = false;
  DotAttrs swapped = attrs;
  std::reverse(swapped.operand_precision.begin(), swapped.operand_precision.end());
  Instruction* dot = r.Clone(i, shape.WithDefaultLayout(), {b->operand(0), a->operand(0)});
  dot->mutable_attr<DotAttrs>() = std::move(swapped);
  return r.Add(Opcode::kTranspose, i->shape(), {dot}, DimensionsAttrs{Permutation(a)});
}

// Depth to space: a last dimension is split, its parts are moved before the dimension that precedes
// it, and merged into the one before that. A concatenation of as many slices along that dimension
// lies in memory alike.
//   [8,14,14,128] -> [8,14,14,2,64] -> [8,14,2,14,64] -> [8,28,14,64]
Instruction* DepthToSpace(Instruction* i, Rewriter& r) {
  constexpr int64_t kMaxSlices = 4;
  const Instruction* transpose = i->operand(0);
  if (!Is(transpose, Opcode::kTranspose) || !Is(transpose->operand(0), Opcode::kReshape))
    return nullptr;
  Instruction* x = transpose->operand(0)->operand(0);
  const DimVector& split = transpose->operand(0)->shape().dims;
  const int64_t rank = x->shape().rank(), width = rank - 2;  // where the parts go
  if (rank < 3 || i->shape().rank() != rank || static_cast<int64_t>(split.size()) != rank + 1)
    return nullptr;
  for (int64_t d = 0; d <= rank; ++d) {
    const int64_t from = d == width ? width + 1 : d == width + 1 ? width : d;
    if (Permutation(transpose)[d] != from) return nullptr;
    if (d < rank - 1 && split[d] != x->shape().dims[d]) return nullptr;
  }
  const int64_t parts = split[rank - 1], part = split[rank];
  if (parts < 2 || parts > kMaxSlices || i->shape().dims[rank - 1] != part ||
      i->shape().dims[width] != split[width] ||
      i->shape().dims[width - 1] != split[width - 1] * parts)
    return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> slices;
  for (int64_t k = 0; k < parts; ++k)
    slices.push_back(w.SliceOf(x, rank - 1, k * part, (k + 1) * part));
  return r.Reshape(w.Concatenate(slices, width), i->shape());
}

constexpr Rule kProductFormRules[] = {
    {"dot-of-transposes", Opcode::kDot, DotOfTransposes},
    {"convolution-swapped", Opcode::kConvolution, SwappedConvolution},
    {"depth-to-space", Opcode::kReshape, DepthToSpace},
    {"dot-of-shuffled-terms", Opcode::kDot, DotOfShuffledTerms},
    {"dot-of-vectors", Opcode::kDot, DotOfVectors},
    {"dot-of-vector", Opcode::kDot, DotOfVector},
    {"transpose-moved-back", Opcode::kTranspose, MovedBack},
    {"reshape-moved-back", Opcode::kReshape, MovedBack},
    {"add-reshaped-update-of-zeros", Opcode::kAdd, AddReshapedUpdate},
};

}  // namespace

absl::Span<const Rule> ProductFormRules() { return kProductFormRules; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
