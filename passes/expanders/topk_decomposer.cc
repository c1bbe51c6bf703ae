// topk-decomposer, topk-splitter: the k largest as a sort, or by parts.
//
// TopK in terms of sort.
#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "analysis/row_topk.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "support/status.h"

namespace hlokit {
namespace {

// compare(lhs, rhs) of the first of `types`; the others come along.
Computation* MakeComparator(Module& module, absl::Span<const ElementType> types, bool largest) {
  Computation* c = module.AddComputation(largest ? "compare-greater-than" : "compare-less-than");
  std::vector<Instruction*> sides;
  for (size_t k = 0; k < types.size(); ++k)
    for (const char* side : {"lhs", "rhs"})
      sides.push_back(c->AddParameter(sides.size(), RowMajor(types[k], {}), side));
  CompareAttrs attrs{largest ? ComparisonDirection::kGt : ComparisonDirection::kLt};
  if (IsFloat(types[0])) attrs.type = ComparisonType::kTotalOrder;
  c->set_root(
      c->Add(Opcode::kCompare, RowMajor(ElementType::kPred, {}), {sides[0], sides[1]}, attrs));
  return c;
}

bool ReadsPositions(const Instruction& topk) {
  if (topk.IsRoot()) return true;
  for (const Instruction* user : topk.users())
    if (user->opcode() != Opcode::kGetTupleElement || user->tuple_index() != 0) return true;
  return false;
}

// The same of a custom call "TopK", whose computation compares.
Instruction* DecomposeCall(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 1 || i->called().size() != 1 || i->shape().HasDynamicDims() ||
      !i->shape().IsTuple() || i->shape().elements.size() != 2)
    return nullptr;
  Instruction* const x = i->operand(0);
  const Shape &values = i->shape().elements[0], &at = i->shape().elements[1];
  const int64_t last = x->shape().rank() - 1;
  if (last < 0 || values.rank() != last + 1 || at.rank() != last + 1) return nullptr;
  const bool is_stable = i->backend_config() != "{is_stable = false}";
  HloWriter w(r);
  Instruction* iota = r.Add(Opcode::kIota, x->shape().WithType(at.type), {}, IotaAttrs{last});
  Instruction* sort = r.Add(Opcode::kSort, Shape::Tuple({x->shape(), iota->shape()}), {x, iota},
                            SortAttrs{{last}, is_stable});
  Computation* compare = i->called(0);
  if (compare->parameter_count() != 4)
    compare = MakeComparator(*i->module(), {values.type, at.type}, /*largest=*/true);
  sort->set_called({compare});
  return w.Tuple({w.SliceOf(w.Part(sort, 0), last, 0, values.dims[last]),
                  w.SliceOf(w.Part(sort, 1), last, 0, values.dims[last])});
}

absl::StatusOr<Instruction*> DecomposeTopK(Instruction* i, Rewriter& r) {
  if (i->opcode() == Opcode::kCustomCall && i->attr<CustomCallAttrs>().target == "TopK")
    return DecomposeCall(i, r);
  if (i->opcode() != Opcode::kTopK || i->shape().HasDynamicDims()) return nullptr;
  Instruction* x = i->operand(0);
  const auto& attrs = i->attr<TopKAttrs>();
  const Shape& shape = x->shape();
  const int64_t last = shape.rank() - 1;
  HloWriter w(r);
  if (!ReadsPositions(*i)) {
    Instruction* sort = r.Add(Opcode::kSort, shape, {x}, SortAttrs{{last}, true});
    sort->set_called({MakeComparator(*x->module(), {shape.type}, attrs.largest)});
    Instruction* values = w.SliceOf(sort, last, 0, attrs.k);
    return w.Tuple({values, w.FillInteger(i->shape().elements[1], 0)});
  }
  const ElementType type = i->shape().elements[1].type;
  Instruction* iota = r.Add(Opcode::kIota, shape.WithType(type), {}, IotaAttrs{last});
  Instruction* sort = r.Add(Opcode::kSort, Shape::Tuple({shape, iota->shape()}), {x, iota},
                            SortAttrs{{last}, true});
  sort->set_called({MakeComparator(*x->module(), {shape.type, type}, attrs.largest)});
  return w.Tuple(
      {w.SliceOf(w.Part(sort, 0), last, 0, attrs.k), w.SliceOf(w.Part(sort, 1), last, 0, attrs.k)});
}

// The largest number of parts, at most kMaxParts, that `size` divides into; each holds at least k.
int64_t PartsOf(int64_t size, int64_t k) {
  constexpr int64_t kMaxParts = 1024;
  for (int64_t parts = std::min(kMaxParts, size / std::max<int64_t>(k, 1)); parts > 1; --parts)
    if (size % parts == 0) return parts;
  return 1;
}

// A custom call "TopK" of one row by parts; its computation, which compares, sorts what is left.
Instruction* SplitCall(Instruction* i, Rewriter& r, int64_t least) {
  if (i->operand_count() != 1 || i->called().size() != 1 || i->shape().HasDynamicDims() ||
      !i->shape().IsTuple() || i->shape().elements.size() != 2 ||
      i->called(0)->parameter_count() != 4)
    return nullptr;
  Instruction* const x = i->operand(0);
  const Shape &values = i->shape().elements[0], &at = i->shape().elements[1];
  const int64_t last = x->shape().rank() - 1;
  if (last < 0 || last > 1 || x->shape().ElementCount() != x->shape().dims[last]) return nullptr;
  const int64_t size = x->shape().dims[last], k = values.dims[last], parts = PartsOf(size, k);
  if (size < least || parts < 2 || k == 0 || k > size / k) return nullptr;
  HloWriter w(r);
  const Shape best_shape =
      Shape::Tuple({RowMajor(values.type, {parts, k}), RowMajor(at.type, {parts, k})});
  Instruction* best = r.Clone(i, best_shape, {w.Reshape(x, {parts, size / parts})});
  Instruction* starts = w.Binary(Opcode::kMultiply, w.Iota(at.type, {parts}, 0),
                                 w.FillInteger(RowMajor(at.type, {parts}), size / parts));
  Instruction* places =
      w.Binary(Opcode::kAdd, w.Part(best, 1), w.Broadcast(starts, {parts, k}, {0}));
  Instruction* kept = w.Reshape(w.Part(best, 0), {parts * k});
  places = w.Reshape(places, {parts * k});
  Instruction* sort = r.Add(Opcode::kSort, Shape::Tuple({kept->shape(), places->shape()}),
                            {kept, places}, SortAttrs{{0}, true});
  sort->set_called({i->called(0)});
  const auto first = [&](int64_t part, const Shape& shape) {
    return r.Reshape(w.SliceOf(w.Part(sort, part), 0, 0, k), shape);
  };
  return w.Tuple({first(0, values), first(1, at)});
}

// The best of each part, then the best of those: sorting keeps equal values in order.
absl::StatusOr<Instruction*> Split(Instruction* i, Rewriter& r, int64_t least) {
  if (i->opcode() == Opcode::kCustomCall && i->attr<CustomCallAttrs>().target == "TopK")
    return SplitCall(i, r, least);
  if (i->opcode() != Opcode::kTopK || i->shape().HasDynamicDims()) return nullptr;
  const auto attrs = i->attr<TopKAttrs>();
  Instruction* x = i->operand(0);
  const int64_t last = x->shape().rank() - 1, size = x->shape().dims[last], k = attrs.k;
  const int64_t parts = PartsOf(size, k);
  if (size < least || parts < 2 || k == 0) return nullptr;
  HloWriter w(r);
  DimVector dims = x->shape().dims;
  dims[last] = parts;
  dims.push_back(size / parts);
  Instruction* cut = w.Reshape(x, dims);
  dims.back() = k;
  const ElementType type = x->shape().type, index = i->shape().elements[1].type;
  Instruction* best =
      r.Clone(i, Shape::Tuple({RowMajor(type, dims), RowMajor(index, dims)}), {cut});
  Instruction* starts = w.WithInteger(Opcode::kMultiply, w.Iota(index, dims, last), size / parts);
  Instruction* places = w.Binary(Opcode::kAdd, w.Part(best, 1), starts);
  dims.pop_back();
  dims[last] = parts * k;
  Instruction *values = w.Reshape(w.Part(best, 0), dims), *at = w.Reshape(places, dims);
  Instruction* sort = r.Add(Opcode::kSort, Shape::Tuple({values->shape(), at->shape()}),
                            {values, at}, SortAttrs{{last}, true});
  sort->set_called({MakeComparator(*x->module(), {type, index}, attrs.largest)});
  return w.Tuple({w.SliceOf(w.Part(sort, 0), last, 0, k), w.SliceOf(w.Part(sort, 1), last, 0, k)});
}

}  // namespace

// topk-splitter: topk of long rows, and custom calls "TopK" of one long row (option `least`
// elements; 1,048,576), take the k first of each of several parts of a row, then of those. Exact.
std::unique_ptr<Pass> CreateTopKSplitter(PassArguments& arguments) {
  const int64_t least = arguments.Int("least", 1 << 20, "elements from which on a row is split");
  return MakeExpander("topk-splitter",
                      [least](Instruction* i, Rewriter& r) { return Split(i, r, least); });
}

// Where positions are not read, those who read values get them without the tuple.

// topk becomes a stable sort of the values with their positions, in total order of floats, and
// slices of the first k; where only the values are read, the positions are left out. Exact.
// Option `rows`: those of short rows stay (analysis/row_topk.h).
std::unique_ptr<Pass> CreateTopKDecomposer(PassArguments& arguments) {
  const bool keeps_rows =
      arguments.Flag("rows", "leaves the few first of short rows, which GPUs have a kernel for");
  const auto of_values = std::make_shared<absl::flat_hash_set<const Instruction*>>();
  return MakeExpander(
      "topk-decomposer",
      [of_values, keeps_rows](Instruction* i, Rewriter& r) -> absl::StatusOr<Instruction*> {
        if (keeps_rows && RowTopKOf(*i).has_value()) return nullptr;
        if (i->opcode() == Opcode::kGetTupleElement && of_values->contains(i->operand(0)))
          return i->operand(0)->operand(i->tuple_index());
        ASSIGN_OR_RETURN(Instruction* const made, DecomposeTopK(i, r));
        if (made != nullptr && !ReadsPositions(*i)) of_values->insert(made);
        return made;
      });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
