// Collectives in terms of simpler ones.
//   all-to-all of an array  ->  slices, all-to-all of a tuple, concatenate
//   all-gather              ->  dynamic-update-slice into zeros, all-reduce (more traffic)
//   reduce-scatter          ->  all-reduce, dynamic-slice at the device's place
#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

absl::StatusOr<Instruction*> DecomposeAllToAll(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kAllToAll || !i->shape().IsArray()) return nullptr;
  AllToAllAttrs attrs = i->attr<AllToAllAttrs>();
  if (!attrs.dimensions || attrs.dimensions->size() != 1) return nullptr;
  const int64_t dim = (*attrs.dimensions)[0], parts = GroupSize(*i);
  const int64_t size = i->shape().dims[dim];
  if (parts == 0 || size % parts != 0) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> slices, received;
  for (int64_t k = 0; k < parts; ++k)
    slices.push_back(w.SliceOf(i->operand(0), dim, k * (size / parts), (k + 1) * (size / parts)));
  attrs.dimensions.reset();
  Instruction* exchanged =
      r.Add(Opcode::kAllToAll, Shape::Tuple(std::vector<Shape>(parts, slices[0]->shape())), slices,
            std::move(attrs));
  for (int64_t k = 0; k < parts; ++k) received.push_back(w.Part(exchanged, k));
  return w.Concatenate(received, dim);
}

AllReduceAttrs AsAllReduce(const Instruction& i) {
  const auto named = CollectiveGroupsOf(i);
  AllReduceAttrs attrs;
  attrs.channel_id = named->channel_id;
  attrs.replica_groups = *named->groups;
  attrs.use_global_device_ids = named->use_global_device_ids.value_or(false);
  return attrs;
}

// The starts of a slice that lies at `place` * `size` of one dimension.
std::vector<Instruction*> StartsAt(HloWriter& w, Instruction* place, int64_t size, int64_t dim,
                                   int64_t rank) {
  std::vector<Instruction*> starts(rank, w.Integer(place->shape().type, 0));
  starts[dim] = size == 1 ? place : w.WithInteger(Opcode::kMultiply, place, size);
  return starts;
}

// Zeros with `x` at the device's place, summed.
Instruction* SumOfParts(const Instruction& gather, Instruction* x, const Shape& shape,
                        Instruction* place, HloWriter& w) {
  Rewriter& r = w.rewriter();
  const int64_t dim = gather.attr<AllGatherAttrs>().dimensions[0];
  const auto starts = StartsAt(w, place, x->shape().dims[dim], dim, x->shape().rank());
  Instruction* own = w.DynamicUpdateSlice(w.FillInteger(shape, 0), x, starts);
  Instruction* sum = r.Add(Opcode::kAllReduce, shape, {own}, AsAllReduce(gather));
  sum->set_called({MakeReducer(*x->module(), Opcode::kAdd, shape.type)});
  return sum;
}

// f8e8m0fnu has powers of two alone.
bool HasZeroToAdd(ElementType type) {
  return !IsPred(type) && BitWidth(type) >= 8 && type != ElementType::kF8E8M0FNU;
}

absl::StatusOr<Instruction*> DecomposeAllGather(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kAllGather || i->shape().IsTuple() != (i->operand_count() > 1))
    return nullptr;
  for (const Instruction* x : i->operands())
    if (!HasZeroToAdd(x->shape().type)) return nullptr;
  HloWriter w(r);
  Instruction* place = PlaceInGroup(w, *i);
  if (place == nullptr) return nullptr;
  if (i->shape().IsArray()) return SumOfParts(*i, i->operand(0), i->shape(), place, w);
  std::vector<Instruction*> sums;
  for (int64_t k = 0; k < i->operand_count(); ++k)
    sums.push_back(SumOfParts(*i, i->operand(k), i->shape().elements[k], place, w));
  return w.Tuple(sums);
}

absl::StatusOr<Instruction*> DecomposeReduceScatter(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduceScatter || !i->shape().IsArray() || i->operand_count() != 1)
    return nullptr;
  HloWriter w(r);
  Instruction* place = PlaceInGroup(w, *i);
  if (place == nullptr) return nullptr;
  Instruction* x = i->operand(0);
  Instruction* sum = r.Add(Opcode::kAllReduce, x->shape(), {x}, AsAllReduce(*i));
  sum->set_called({i->to_apply()});
  const int64_t dim = i->attr<ReduceScatterAttrs>().dimensions[0];
  const auto starts = StartsAt(w, place, i->shape().dims[dim], dim, x->shape().rank());
  return w.DynamicSlice(sum, starts, i->shape().dims);
}

}  // namespace

// all_to_all_decomposer: an all-to-all that splits a dimension becomes slices, an all-to-all of
// them, and a concatenation of what comes back. Exact.
std::unique_ptr<Pass> CreateAllToAllDecomposer() {
  return MakeExpander("all_to_all_decomposer", DecomposeAllToAll);
}

// all_gather_decomposer: an all-gather becomes an update of zeros at the device's place and an
// all-reduce of sums. Types without addition or without a zero stay. Exact, except that -0 becomes
// 0.
std::unique_ptr<Pass> CreateAllGatherDecomposer() {
  return MakeExpander("all_gather_decomposer", DecomposeAllGather);
}

// reduce-scatter-decomposer: a reduce-scatter becomes an all-reduce and a slice at the device's
// place. Exact but for the order of sums.
std::unique_ptr<Pass> CreateReduceScatterDecomposer() {
  return MakeExpander("reduce-scatter-decomposer", DecomposeReduceScatter);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
