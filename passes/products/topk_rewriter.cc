// topk-rewriter: rewrites a slice of a descending sort as the TopK custom call.
// Matches sorts along the last dimension of a matrix or vector, alone or with an iota of that
// dimension, by "greater" in total order (any order of greater where the sort is not stable), whose
// every reader is a slice of the first k. Leaves custom-call "TopK" of the array and what reads its
// values and positions. Cost: linear.
//   slice(sort(x, descending), [0:5])  ->  custom-call "TopK"(x), k = 5
#include "passes/framework/pass.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/post_order_of.h"

namespace hlokit {
namespace {

constexpr absl::string_view kName = "topk-rewriter";

// The parameter that `key` orders: itself, or as the integers that totalOrder makes of floats,
// select(bits < 0, largest xor bits, bits).
const Instruction* OrderedParameter(const Instruction* key, bool* total) {
  if (key->IsParameter()) return key;
  if (key->opcode() != Opcode::kSelect) return nullptr;
  const Instruction* bits = key->operand(2);
  const Instruction *test = key->operand(0), *flipped = key->operand(1);
  const bool idiom = bits->opcode() == Opcode::kBitcastConvert && bits->operand(0)->IsParameter() &&
                     test->opcode() == Opcode::kCompare &&
                     test->attr<CompareAttrs>().direction == ComparisonDirection::kLt &&
                     test->operand(0) == bits && IsSplat(test->operand(1), 0) &&
                     flipped->opcode() == Opcode::kXor &&
                     (flipped->operand(0) == bits || flipped->operand(1) == bits);
  if (!idiom) return nullptr;
  *total = true;
  return bits->operand(0);
}

bool OrdersDescending(const Instruction* sort) {
  const Computation* f = sort->to_apply();
  const Instruction* root = f->root();
  if (root->opcode() != Opcode::kCompare) return false;
  const CompareAttrs& compare = root->attr<CompareAttrs>();
  if (compare.direction != ComparisonDirection::kGt) return false;
  bool total = compare.type == ComparisonType::kTotalOrder;
  if (OrderedParameter(root->operand(0), &total) != f->parameter(0) ||
      OrderedParameter(root->operand(1), &total) != f->parameter(1))
    return false;
  return total || !sort->attr<SortAttrs>().is_stable || !IsFloat(f->parameter(0)->shape().type);
}

bool IsPositions(const Instruction* x, int64_t dimension) {
  if (x->shape().type != ElementType::kS32) return false;
  if (x->opcode() == Opcode::kIota) return x->attr<IotaAttrs>().iota_dimension == dimension;
  return x->opcode() == Opcode::kBroadcast && x->operand(0)->opcode() == Opcode::kIota &&
         x->operand(0)->shape().rank() == 1 &&
         x->attr<BroadcastAttrs>().dimensions == DimVector{dimension};
}

// How many of the first elements along the last dimension `slice` takes; -1 if it takes others.
int64_t TakesFirst(const Instruction* slice) {
  if (slice->opcode() != Opcode::kSlice) return -1;
  const SliceSpec& spec = slice->attr<SliceAttrs>().slice;
  for (size_t d = 0; d < spec.size(); ++d) {
    const bool whole = spec[d].limit == slice->operand(0)->shape().dims[d];
    if (spec[d].start != 0 || spec[d].stride != 1 || (d + 1 < spec.size() && !whole)) return -1;
  }
  return slice->shape().dims.back();
}

struct TopK {
  int64_t k = -1;
  std::vector<std::pair<Instruction*, int64_t>> slices;  // with the operand they take
};

bool Collect(Instruction* sorted, int64_t operand, TopK& found) {
  if (sorted->IsRoot()) return false;
  for (Instruction* slice : sorted->users()) {
    const int64_t k = TakesFirst(slice);
    if (k <= 0 || (found.k >= 0 && found.k != k)) return false;
    found.k = k;
    found.slices.push_back({slice, operand});
  }
  return true;
}

std::optional<TopK> Match(Instruction* sort) {
  if (sort->operand_count() > 2) return std::nullopt;
  const Shape& shape = sort->operand(0)->shape();
  const int64_t d = sort->attr<SortAttrs>().dimensions[0];
  if (shape.rank() < 1 || shape.rank() > 2 || d != shape.rank() - 1 || shape.HasDynamicDims() ||
      !shape.IsRowMajor() || IsComplex(shape.type) || !OrdersDescending(sort))
    return std::nullopt;
  TopK found;
  if (sort->operand_count() == 1) {
    if (!Collect(sort, 0, found)) return std::nullopt;
  } else {
    if (!IsPositions(sort->operand(1), d) || sort->IsRoot()) return std::nullopt;
    for (Instruction* part : sort->users())
      if (part->opcode() != Opcode::kGetTupleElement || !Collect(part, part->tuple_index(), found))
        return std::nullopt;
  }
  return found.k > 0 ? std::optional<TopK>(std::move(found)) : std::nullopt;
}

Instruction* MakeTopK(const Instruction* sort, int64_t k) {
  Shape values = sort->operand(0)->shape();
  values.dims.back() = k;
  CustomCallAttrs attrs;
  attrs.target = "TopK";
  Instruction* made = sort->parent()->Add(
      Opcode::kCustomCall, Shape::Tuple({values, values.WithType(ElementType::kS32)}),
      {sort->operand(0)}, std::move(attrs));
  made->set_called({sort->to_apply()});
  made->CopyExtrasFrom(*sort);
  return made;
}

absl::StatusOr<bool> Run(Computation& computation, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : PostOrderOf(computation, Opcode::kSort)) {
    const std::optional<TopK> found = Match(i);
    if (!found) continue;
    Instruction* made = MakeTopK(i, found->k);
    if (!control.Permit(kName, *i, *made)) {
      computation.Remove(made);
      continue;
    }
    Instruction* parts[2] = {nullptr, nullptr};
    for (const auto& [slice, k] : found->slices) {
      if (parts[k] == nullptr)
        parts[k] = computation.Add(Opcode::kGetTupleElement, made->shape().elements[k], {made},
                                   GetTupleElementAttrs{k});
      slice->ReplaceAllUsesWith(parts[k]);
    }
    for (const auto& [slice, k] : found->slices) computation.RemoveIfDead(slice);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateTopkRewriter() { return MakeComputationPass(kName, Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
