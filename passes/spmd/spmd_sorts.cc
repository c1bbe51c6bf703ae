// Sorts and searches for the largest, partitioned. Along a dimension that is cut, another dimension
// takes the tiles for the while, or, where only the first k rows of a sort are read, each partition
// sorts its own rows, and the first k of all are sorted again:
//   top-k of 8 in 2 shards  ->  top-k of 4 each, their 2 k rows on both, sort, slice
// Both are stable: rows of partitions stand in their order, so ties keep theirs.
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "passes/spmd/spmd_visitor.h"

namespace hlokit {
namespace {

bool AreAlike(absl::Span<const Cut> cuts) {
  return absl::c_all_of(cuts, [&](const Cut& cut) { return cut == cuts[0]; });
}

// The cut with the tiles of dimension d on another one: one that has none, or else on top of those
// that it has.
std::optional<Cut> WithoutTilesOf(const Cut& cut, const Shape& shape, int64_t d) {
  DimVector order(cut.tiles.size());
  std::iota(order.begin(), order.end(), 0);
  for (int64_t k = 0; k < shape.rank(); ++k)
    if (k != d && cut.tiles[k] == 1 && shape.dims[k] % cut.tiles[d] == 0) {
      order.resize(cut.rank());
      std::swap(order[k], order[d]);
      return Transposed(cut, order);
    }
  for (int64_t k = shape.rank() - 1; k >= 0; --k) {
    if (k == d || shape.dims[k] % (cut.tiles[k] * cut.tiles[d]) != 0) continue;
    order.erase(order.begin() + d);
    order.insert(absl::c_find(order, k) + 1, d);
    DimVector tiles = cut.tiles;
    tiles[k] *= tiles[d];
    tiles[d] = 1;
    Cut plain = cut;  // the copies are a dimension like any other
    plain.has_copies = false;
    return Retiled(Transposed(plain, order), tiles, cut.has_copies);
  }
  return std::nullopt;
}

// [values, values, indices, indices] -> whether the first value is larger (or smaller).
// `index`: of a second operand; nothing where there is none.
Computation* MakeOrder(Module& module, ElementType value, std::optional<ElementType> index,
                       bool largest) {
  Computation* order = module.AddComputation("compare");
  std::vector<Instruction*> parameters;
  for (int64_t k = 0; k < (index ? 4 : 2); ++k)
    parameters.push_back(order->AddParameter(k, RowMajor(k < 2 ? value : *index, {})));
  CompareAttrs how;
  how.direction = largest ? ComparisonDirection::kGt : ComparisonDirection::kLt;
  if (IsFloat(value)) how.type = ComparisonType::kTotalOrder;
  order->set_root(order->Add(Opcode::kCompare, RowMajor(ElementType::kPred, {}),
                             {parameters[0], parameters[1]}, how));
  return order;
}

bool IsOnlyReadAt(const Instruction& tuple, int64_t index) {
  return !tuple.IsRoot() && absl::c_all_of(tuple.users(), [&](const Instruction* user) {
    return user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == index;
  });
}

}  // namespace

// As many rows as are read of the results along d, where only the first are read, of values and
// their places.
std::optional<int64_t> SpmdVisitor::FirstRowsRead(const Instruction& i, int64_t d) const {
  if (i.operand_count() != 2 || i.operand(1)->opcode() != Opcode::kIota ||
      i.operand(1)->attr<IotaAttrs>().iota_dimension != d)
    return std::nullopt;
  std::vector<const Instruction*> results = {&i};
  if (i.shape().IsTuple()) {
    results.assign(i.users().begin(), i.users().end());
    for (const Instruction* element : results)
      if (element->opcode() != Opcode::kGetTupleElement || element->IsRoot()) return std::nullopt;
  }
  if (i.IsRoot()) return std::nullopt;
  std::optional<int64_t> rows;
  for (const Instruction* result : results)
    for (const Instruction* user : result->users()) {
      if (user->opcode() != Opcode::kSlice) return std::nullopt;
      const SliceSpec& slice = user->attr<SliceAttrs>().slice;
      for (size_t k = 0; k < slice.size(); ++k)
        if (slice[k].stride != 1 || slice[k].start != 0 ||
            (static_cast<int64_t>(k) != d && slice[k].limit != result->shape().dims[k]))
          return std::nullopt;
      rows = std::max(rows.value_or(0), slice[d].limit);
    }
  return rows;
}

// The result has the first rows of all partitions only, which users read the first of.
absl::Status SpmdVisitor::SortFirstRows(const Instruction& i, int64_t d, int64_t rows) {
  const Cut cut = Of(i.operand(0)).cut();
  const int64_t parts = cut.tiles[d];
  std::vector<Instruction*> operands, gathered;
  std::vector<Shape> locals, wholes, results;
  for (const Instruction* operand : i.operands()) {
    operands.push_back(sharder_.To(Of(operand), cut).value);
    locals.push_back(operands.back()->shape());
  }
  const bool is_tuple = i.shape().IsTuple();
  Instruction* local = Clone(i, is_tuple ? Shape::Tuple(locals) : locals[0], operands);
  for (size_t k = 0; k < operands.size(); ++k) {
    Instruction* part = is_tuple ? w_.Part(local, static_cast<int64_t>(k)) : local;
    Shape whole = i.operand(static_cast<int64_t>(k))->shape();
    whole.dims[d] = rows * parts;
    part = w_.SliceOf(part, d, 0, rows);
    gathered.push_back(sharder_.MakeWhole(Array(part, whole, cut), {d}));
    results.push_back(gathered.back()->shape());
    wholes.push_back(std::move(whole));
  }
  Instruction* sorted = Clone(i, is_tuple ? Shape::Tuple(results) : results[0], gathered);
  const std::vector<Cut> cuts(operands.size(), MadeWhole(cut, {d}));
  const Shape whole = is_tuple ? Shape::Tuple(wholes) : wholes[0];
  Set(i, Shard{sorted, whole, cuts, scope_});
  return absl::OkStatus();
}

absl::Status SpmdVisitor::Sort(const Instruction& i) {
  const int64_t d = i.attr<SortAttrs>().dimensions[0];
  const Shape& shape = i.operand(0)->shape();
  const Cut& given = Of(i.operand(0)).cut();
  if (!CutOfResult().IsTiled() && given.IsTiled() && given.tiles[d] > 1 && IsEven(given, shape)) {
    const auto rows = FirstRowsRead(i, d);
    if (rows && *rows * given.tiles[d] < shape.dims[d]) return SortFirstRows(i, d, *rows);
  }
  const Cut cut = CutOfResult();
  if (!AreAlike(cuts_) || !cut.IsTiled()) return Default(i);
  Cut sorted = cut;
  if (cut.tiles[d] > 1) {
    const auto moved = WithoutTilesOf(cut, shape, d);
    if (!moved) return Default(i);
    sorted = *moved;
  }
  std::vector<Instruction*> operands;
  for (const Instruction* operand : i.operands())
    operands.push_back(sharder_.To(Of(operand), sorted).value);
  const std::vector<Cut> cuts(cuts_.size(), sorted);
  Set(i, Shard{Clone(i, PartitionedShape(i.shape(), cuts), operands), i.shape(), cuts, scope_});
  return absl::OkStatus();
}

// What the partitions found is sorted again, values alone where nobody reads their places.
absl::Status SpmdVisitor::TopKOfParts(const Instruction& i, const Shard& operand, int64_t k) {
  const Cut cut = operand.cut();
  const int64_t d = operand.whole.rank() - 1, own = operand.value->shape().dims[d];
  std::vector<Shape> locals;
  for (Shape shape : i.shape().elements) {
    shape.dims = operand.value->shape().dims;
    shape.dims[d] = k;
    locals.push_back(std::move(shape));
  }
  Instruction* found = Clone(i, Shape::Tuple(locals), {operand.value});
  std::vector<Instruction*> parts = {w_.Part(found, 0), w_.Part(found, 1)};
  const ElementType value = parts[0]->shape().type, place = parts[1]->shape().type;
  if (cut.tiles[d] > 1) {
    Instruction* first = PlaceFunction(own, 0).Write(w_, writer_.Places(cut, scope_)[d]);
    parts[1] =
        w_.Binary(Opcode::kAdd, parts[1], w_.Fill(parts[1]->shape(), w_.Convert(first, place)));
  }
  const bool values_only = IsOnlyReadAt(i, 0);
  std::vector<Instruction*> gathered;
  for (Instruction* part : absl::MakeSpan(parts).first(values_only ? 1 : 2)) {
    Shape whole = operand.whole.WithType(part->shape().type);
    whole.dims[d] = k * cut.tiles[d];
    gathered.push_back(sharder_.MakeWhole(Array(part, whole, cut), {d}));
  }
  const Shape shape = values_only ? gathered[0]->shape()
                                  : Shape::Tuple({gathered[0]->shape(), gathered[1]->shape()});
  Instruction* sorted = r_.Add(Opcode::kSort, shape, gathered, SortAttrs{{d}, /*is_stable=*/true});
  const bool largest = i.opcode() != Opcode::kTopK || i.attr<TopKAttrs>().largest;
  sorted->set_called({MakeOrder(*to_.module(), value,
                                values_only ? std::nullopt : std::optional(place), largest)});
  const auto first_rows = [&](Instruction* x) { return w_.SliceOf(x, d, 0, k); };
  Instruction* values = first_rows(values_only ? sorted : w_.Part(sorted, 0));
  Instruction* places = values_only ? parts[1] : first_rows(w_.Part(sorted, 1));
  const std::vector<Cut> cuts(2, MadeWhole(cut, {d}));
  Set(i, Shard{w_.Tuple({values, places}), i.shape(), cuts, scope_});
  return absl::OkStatus();
}

// Rows are sought through whole, on the partitions that have them, or in parts.
absl::Status SpmdVisitor::TopK(const Instruction& i) {
  const Shard& operand = Of(i.operand(0));
  if (!operand.cut().IsTiled() || !i.shape().IsTuple() || i.operand_count() != 1) return Default(i);
  const int64_t d = operand.whole.rank() - 1;
  if (operand.cut().tiles[d] > 1 && IsEven(operand.cut(), operand.whole) &&
      i.shape().elements.size() == 2) {
    const int64_t k = i.shape().elements[0].dims[d];
    if (k > 0 && k * operand.cut().tiles[d] < operand.whole.dims[d])
      return TopKOfParts(i, operand, k);
  }
  const Cut rows = MadeWhole(operand.cut(), {d});
  if (!rows.IsTiled()) return Default(i);
  const Shard given = sharder_.To(operand, rows);
  // XLA's partitioner takes the rows of the custom call for unsorted.
  if (i.opcode() == Opcode::kCustomCall && i.shape().elements.size() == 2)
    return TopKOfParts(i, given, i.shape().elements[0].dims[d]);
  const std::vector<Cut> cuts(cuts_.size(), rows);
  Instruction* made = Clone(i, PartitionedShape(i.shape(), cuts), {given.value});
  Set(i, Shard{made, i.shape(), cuts, scope_});
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
