// topk-rewriter: rewrites a slice of a descending sort as the TopK custom call.
// Matches sorts, alone or with an iota of the sorted dimension, by "greater" in total order (any
// order of greater where the sort is not stable), whose every reader is a slice of the first k.
// Leaves custom-call "TopK" of the array, as a matrix whose rows are sorted, and what reads its
// values and positions; the backend_config of one that need not be stable says so. Cost: linear.
//   slice(sort(x, descending), [0:5])  ->  custom-call "TopK"(x), k = 5
#include "passes/framework/pass.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/post_order_of.h"

namespace hlokit {
namespace {

constexpr absl::string_view kName = "topk-rewriter";

const Instruction* WithoutConvert(const Instruction* i) {
  return i->opcode() == Opcode::kConvert ? i->operand(0) : i;
}

// Whether `flipped` is the largest integer minus `bits`, which is their xor where `bits` are below
// zero: xor(largest, bits), or subtract(largest, bits) in unsigned integers.
bool IsFlipped(const Instruction* flipped, const Instruction* bits) {
  if (flipped->opcode() == Opcode::kXor)
    return flipped->operand(0) == bits || flipped->operand(1) == bits;
  if (flipped->opcode() != Opcode::kBitcastConvert) return false;
  const Instruction* difference = flipped->operand(0);
  if (difference->opcode() != Opcode::kSubtract || !IsUnsigned(difference->shape().type))
    return false;
  const Instruction* other = difference->operand(1);
  const auto largest = IntegerSplat(WithoutConvert(difference->operand(0)));
  const int width = BitWidth(difference->shape().type);
  return largest == (int64_t{1} << (width - 1)) - 1 && other->opcode() == Opcode::kBitcastConvert &&
         other->operand(0) == bits->operand(0);
}

// The parameter that `key` orders: itself, or as the integers that totalOrder makes of floats,
// select(bits < 0, largest - bits, bits).
const Instruction* OrderedParameter(const Instruction* key, bool* total) {
  if (key->IsParameter()) return key;
  if (key->opcode() != Opcode::kSelect) return nullptr;
  const Instruction* bits = key->operand(2);
  const Instruction *test = key->operand(0), *flipped = key->operand(1);
  const bool idiom = bits->opcode() == Opcode::kBitcastConvert && bits->operand(0)->IsParameter() &&
                     test->opcode() == Opcode::kCompare &&
                     test->attr<CompareAttrs>().direction == ComparisonDirection::kLt &&
                     test->operand(0) == bits && IsSplat(test->operand(1), 0) &&
                     IsFlipped(flipped, bits);
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

// How many of the first elements along `sorted` the slice takes; -1 if it takes others.
int64_t TakesFirst(const Instruction* slice, int64_t sorted) {
  if (slice->opcode() != Opcode::kSlice) return -1;
  const SliceSpec& spec = slice->attr<SliceAttrs>().slice;
  for (size_t d = 0; d < spec.size(); ++d) {
    const bool whole = spec[d].limit == slice->operand(0)->shape().dims[d];
    const bool is_sorted = static_cast<int64_t>(d) == sorted;
    if (spec[d].start != 0 || spec[d].stride != 1 || (!is_sorted && !whole)) return -1;
  }
  return slice->shape().dims[sorted];
}

struct TopK {
  int64_t dimension = 0;  // the sorted one
  int64_t k = -1;
  std::vector<std::pair<Instruction*, int64_t>> slices;  // with the operand they take
};

bool Collect(Instruction* sorted, int64_t operand, TopK& found) {
  if (sorted->IsRoot()) return false;
  for (Instruction* slice : sorted->users()) {
    const int64_t k = TakesFirst(slice, found.dimension);
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
  if (shape.rank() < 1 || shape.HasDynamicDims() || shape.ElementCount() == 0 ||
      !shape.IsRowMajor() || IsComplex(shape.type) || !OrdersDescending(sort))
    return std::nullopt;
  TopK found;
  found.dimension = d;
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

// The array with the sorted dimension last, and those before it as one.
Instruction* Rows(HloWriter& w, Instruction* x, int64_t sorted) {
  const int64_t rank = x->shape().rank();
  DimVector order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != sorted) order.push_back(d);
  order.push_back(sorted);
  const int64_t size = x->shape().dims[sorted];
  x = w.Transpose(x, order);
  return rank > 2 ? w.Reshape(x, {x->shape().ElementCount() / size, size}) : x;
}

// What Rows made of an array of these dimensions, in its own form again.
Instruction* FromRows(HloWriter& w, Instruction* rows, const DimVector& dims, int64_t sorted) {
  DimVector moved, order;
  for (size_t d = 0; d < dims.size(); ++d)
    if (static_cast<int64_t>(d) != sorted) moved.push_back(dims[d]);
  moved.push_back(dims[sorted]);
  const auto last = static_cast<int64_t>(dims.size()) - 1;
  for (int64_t d = 0; d <= last; ++d) order.push_back(d == sorted ? last : d - (d > sorted));
  return w.Transpose(w.Reshape(rows, moved), order);
}

Instruction* MakeTopK(const Instruction* sort, Instruction* rows, int64_t k) {
  Shape values = rows->shape();
  values.dims.back() = k;
  CustomCallAttrs attrs;
  attrs.target = "TopK";
  Instruction* made = sort->parent()->Add(
      Opcode::kCustomCall, Shape::Tuple({values, values.WithType(ElementType::kS32)}), {rows},
      std::move(attrs));
  made->set_called({sort->to_apply()});
  made->CopyExtrasFrom(*sort);
  if (!sort->attr<SortAttrs>().is_stable)
    made->mutable_extras().backend_config = SharedText("{is_stable = false}");
  return made;
}

absl::StatusOr<bool> Run(Computation& computation, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : PostOrderOf(computation, Opcode::kSort)) {
    const std::optional<TopK> found = Match(i);
    if (!found) continue;
    if (!control.Permit(kName, *i, *i)) continue;
    Rewriter r(computation);
    r.set_subject(i);
    HloWriter w(r);
    Instruction* made = MakeTopK(i, Rows(w, i->operand(0), found->dimension), found->k);
    Instruction* parts[2] = {nullptr, nullptr};
    for (const auto& [slice, k] : found->slices) {
      if (parts[k] == nullptr)
        parts[k] = FromRows(w, w.Part(made, k), slice->shape().dims, found->dimension);
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
