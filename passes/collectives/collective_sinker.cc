// collective-pipeliner-forward-sink: one collective after the loop for the collectives of all
// iterations.
//   while { s[i] = negate(all-reduce(f(i))) }
//     ->  while { x[i] = f(i) }; s = negate(all-reduce(x))
// Matches groups of collectives and what follows from them (loop_updates.h) whose updates fill all
// rows of arrays, a row an iteration. What they read is kept as a row of a new array of the state;
// after the loop each instruction of the group is made once, of arrays with a dimension more, in
// front. Cost: linear in the group; memory: the rows of all that is kept.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "passes/collectives/loop_updates.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"

namespace hlokit {
namespace {

using Parts = std::vector<Instruction*>;

// The shape of `count` arrays of `shape`, the count as the outermost dimension.
Shape Stacked(const Shape& shape, int64_t count) {
  Shape stacked = RowMajor(shape.type, shape.dims);
  stacked.dims.insert(stacked.dims.begin(), count);
  DimVector order;
  for (int64_t d : shape.MinorToMajor()) order.push_back(d + 1);
  order.push_back(0);
  return Shape::ArrayWithLayout(shape.type, stacked.dims, order);
}

DimVector Shifted(absl::Span<const int64_t> dims) {
  DimVector shifted;
  for (int64_t d : dims) shifted.push_back(d + 1);
  return shifted;
}

// The first operand of `i` that must be the same in all iterations; those after it must be too.
int64_t FirstFixedOperand(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kReduce:
      return i->operand_count() / 2;
    case Opcode::kPad:
    case Opcode::kDynamicSlice:
      return 1;
    default:
      return i->operand_count();
  }
}

// Whether Stacker writes `i`, where its fixed operands are the same in all iterations.
bool CanStack(const Instruction* i) {
  if (!i->shape().IsArray() || i->shape().HasDynamicDims()) return false;
  switch (i->opcode()) {
    case Opcode::kReduce:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kAllReduce:
    case Opcode::kAllGather:
    case Opcode::kReduceScatter:
    case Opcode::kCollectivePermute:
    case Opcode::kCustomCall:
      return true;
    default:
      return HasTrait(i->opcode(), kElementwise) && !HasTrait(i->opcode(), kMovesData) &&
             std::all_of(i->operands().begin(), i->operands().end(),
                         [&](const Instruction* x) { return SameDims(x->shape(), i->shape()); });
  }
}

// Writes the instructions of a group of all iterations at once.
class Stacker {
 public:
  Stacker(HloWriter& w, int64_t count) : w_(w), r_(w.rewriter()), count_(count) {}

  // `value` is that of `i` in all iterations; of each, a row.
  void SetFixed(const Instruction* i, Instruction* value) { fixed_[i] = value; }
  void SetStacked(const Instruction* i, Instruction* value) { stacked_[i] = value; }

  // The rows of `i`.
  Instruction* Value(const Instruction* i) {
    const auto known = stacked_.find(i);
    if (known != stacked_.end()) return known->second;
    DimVector where;
    for (int64_t d = 0; d < i->shape().rank(); ++d) where.push_back(d + 1);
    return stacked_[i] = r_.Broadcast(fixed_.at(i), Stacked(i->shape(), count_), where);
  }

  void Write(const Instruction* i) {
    if (i->opcode() == Opcode::kDynamicUpdateSlice) {
      stacked_[i] = Scattered(i);
      return;
    }
    Parts operands;
    const int64_t fixed = FirstFixedOperand(i);
    for (int64_t k = 0; k < i->operand_count(); ++k)
      operands.push_back(k < fixed ? Value(i->operand(k)) : fixed_.at(i->operand(k)));
    if (i->opcode() == Opcode::kDynamicSlice)
      operands.insert(operands.begin() + 1, w_.Integer(StartType(i), 0));
    Instruction* made = r_.Clone(i, Stacked(i->shape(), count_), operands);
    ShiftAttributes(i, made);
    stacked_[i] = made;
  }

 private:
  static ElementType StartType(const Instruction* slice) {
    return slice->operand_count() > 1 ? slice->operand(1)->shape().type : ElementType::kS32;
  }

  // Attributes that name dimensions name those one further.
  void ShiftAttributes(const Instruction* i, Instruction* made) const {
    switch (i->opcode()) {
      case Opcode::kBitcast:
      case Opcode::kReshape:
        break;
      case Opcode::kReduce: {
        DimVector& dims = made->mutable_attr<DimensionsAttrs>().dimensions;
        dims = Shifted(dims);
        break;
      }
      case Opcode::kTranspose: {
        DimVector& dims = made->mutable_attr<DimensionsAttrs>().dimensions;
        dims = Shifted(dims);
        dims.insert(dims.begin(), 0);
        break;
      }
      case Opcode::kBroadcast: {
        DimVector& dims = made->mutable_attr<BroadcastAttrs>().dimensions;
        dims = Shifted(dims);
        dims.insert(dims.begin(), 0);
        break;
      }
      case Opcode::kAllGather: {
        DimVector& dims = made->mutable_attr<AllGatherAttrs>().dimensions;
        dims = Shifted(dims);
        break;
      }
      case Opcode::kReduceScatter: {
        DimVector& dims = made->mutable_attr<ReduceScatterAttrs>().dimensions;
        dims = Shifted(dims);
        break;
      }
      case Opcode::kSlice: {
        auto& slice = made->mutable_attr<SliceAttrs>().slice;
        slice.insert(slice.begin(), {0, count_, 1});
        break;
      }
      case Opcode::kPad: {
        auto& padding = made->mutable_attr<PadAttrs>().padding;
        padding.insert(padding.begin(), {0, 0, 0});
        break;
      }
      case Opcode::kDynamicSlice: {
        DimVector& sizes = made->mutable_attr<DynamicSliceAttrs>().dynamic_slice_sizes;
        sizes.insert(sizes.begin(), count_);
        break;
      }
      case Opcode::kCustomCall: {
        auto& layouts = made->mutable_attr<CustomCallAttrs>().operand_layout_constraints;
        if (!layouts) break;
        for (Shape& layout : *layouts) layout = Stacked(layout, count_);
        break;
      }
      default:
        break;
    }
  }

  // An update at a place of its own in each iteration: a scatter of windows, the places clamped as
  // updates clamp them.
  Instruction* Scattered(const Instruction* update) {
    const Shape& array = update->shape();
    const Shape& window = update->operand(1)->shape();
    ScatterAttrs attrs;
    Parts columns;
    for (int64_t d = 0; d < array.rank(); ++d) {
      Instruction* start = Value(update->operand(d + 2));
      start = w_.Binary(Opcode::kMaximum, start, w_.FillInteger(start->shape(), 0));
      start = w_.Convert(start, ElementType::kS64);
      start = w_.Binary(Opcode::kMinimum, start,
                        w_.FillInteger(start->shape(), array.dims[d] - window.dims[d]));
      columns.push_back(w_.Reshape(start, {count_, 1}));
      attrs.update_window_dims.push_back(d + 1);
      attrs.scatter_dims_to_operand_dims.push_back(d + 1);
    }
    attrs.input_batching_dims = {0};
    attrs.scatter_indices_batching_dims = {0};
    attrs.index_vector_dim = 1;
    attrs.unique_indices = true;
    Instruction* made = r_.Add(
        Opcode::kScatter, Stacked(array, count_),
        {Value(update->operand(0)), w_.Concatenate(columns, 1), Value(update->operand(1))}, attrs);
    Computation* second = update->module()->AddComputation("second");
    second->AddParameter(0, RowMajor(array.type, {}));
    second->set_root(second->AddParameter(1, RowMajor(array.type, {})));
    made->set_called({second});
    return made;
  }

  HloWriter& w_;
  Rewriter& r_;
  int64_t count_;
  absl::flat_hash_map<const Instruction*, Instruction*> fixed_, stacked_;
};

// Whether the update writes one row of an array with as many rows as the loop has iterations.
bool WritesRow(const Instruction* update, const CollectiveLoop& loop) {
  const Shape& rows = update->shape();
  const Shape& row = update->operand(1)->shape();
  return MovingDimension(update) == std::optional<int64_t>(0) && rows.dims[0] == loop.count.trips &&
         row.dims[0] == 1 && !rows.HasDynamicDims() &&
         std::equal(rows.dims.begin() + 1, rows.dims.end(), row.dims.begin() + 1);
}

// Whether the group's updates all write row p(i) in iteration i, for a permutation p.
bool FillsArrays(const LoopUpdates& group, const CollectiveLoop& loop) {
  std::vector<int64_t> first;
  for (const Instruction* update : group.updates) {
    if (!WritesRow(update, loop) || loop.count.trips > kMaxRows) return false;
    const auto rows = RowsWritten(update, loop);
    if (!rows || (!first.empty() && *rows != first)) return false;
    first = *rows;
  }
  std::sort(first.begin(), first.end());
  for (size_t k = 0; k < first.size(); ++k)
    if (first[k] != static_cast<int64_t>(k)) return false;
  return !first.empty();
}

bool CanStack(const LoopUpdates& group, const WhileState& loop) {
  for (const Instruction* i : group.moved) {
    if (!CanStack(i)) return false;
    for (int64_t k = FirstFixedOperand(i); k < i->operand_count(); ++k)
      if (KindOf(i->operand(k), loop) == LoopInputKind::kOther) return false;
  }
  const std::vector<Instruction*> inputs = group.Inputs();
  return std::all_of(inputs.begin(), inputs.end(), [](const Instruction* input) {
    return input->shape().IsArray() && !input->shape().HasDynamicDims();
  });
}

class Sinker {
 public:
  Sinker(const CollectiveLoop& loop, const std::vector<LoopUpdates>& groups)
      : old_(loop.state), trips_(loop.count.trips), groups_(groups) {}

  // The old loop's result.
  Instruction* Make(Rewriter& r) {
    const size_t parts = old_.root->operand_count();
    HloWriter w(r);
    Parts start = PartsOf(w, old_.loop->operand(0));
    for (const LoopUpdates& group : groups_)
      for (const Instruction* x : Kept(group))
        start.push_back(r.Splat(Stacked(x->shape(), trips_), 0));
    Instruction* loop = MakeLoop(
        r, old_, w.Tuple(start),
        [&](Rewriter& inside, Instruction* state) { return Round(inside, state); },
        [&](Rewriter& test, Instruction* state) { return Narrow(test, state, parts); });
    Parts results = PartsOf(w, loop);
    size_t at = parts;
    for (const LoopUpdates& group : groups_) WriteResults(w, group, results, at);
    results.resize(parts);
    return w.Tuple(results);
  }

 private:
  // What must be kept for the group: not the starts of its updates, which write all rows.
  Parts Kept(const LoopUpdates& group) const {
    Parts kept;
    for (Instruction* input : group.Inputs()) {
      const bool is_read =
          std::any_of(input->users().begin(), input->users().end(), [&](const Instruction* user) {
            return std::find(group.moved.begin(), group.moved.end(), user) != group.moved.end();
          });
      if (is_read && KindOf(input, old_) == LoopInputKind::kOther) kept.push_back(input);
    }
    return kept;
  }

  // The old body with the arrays as they were, and the rows of this iteration.
  Instruction* Round(Rewriter& r, Instruction* state) {
    Parts next(old_.root->operands().begin(), old_.root->operands().end());
    const size_t parts = next.size();
    for (const LoopUpdates& group : groups_) {
      for (size_t k = 0; k < group.updates.size(); ++k)
        next[group.parts[k]] = group.updates[k]->operand(0);
      for (Instruction* x : Kept(group)) next.push_back(x);
      next.push_back(group.updates[0]->operand(2));
    }
    HloWriter w(r);
    Instruction* copy = nullptr;
    {
      const OtherRoot root(old_, next);
      copy = CopyBody(*old_.body, {Narrow(r, state, parts)}, *state->parent());
    }
    const Parts given(copy->operands().begin(), copy->operands().end());
    Parts result(given.begin(), given.begin() + static_cast<int64_t>(parts));
    size_t at = parts;
    for (const LoopUpdates& group : groups_) {
      const size_t count = Kept(group).size();
      Instruction* row = given[at + count];
      for (size_t k = 0; k < count; ++k, ++at)
        result.push_back(
            KeepRow(w, w.Part(state, static_cast<int64_t>(result.size())), given[at], row));
      ++at;
    }
    Instruction* made = w.Tuple(result);
    for (Instruction* before : copy->control_predecessors()) made->AddControlPredecessor(before);
    return made;
  }
  static Instruction* KeepRow(HloWriter& w, Instruction* rows, Instruction* value,
                              Instruction* row) {
    Parts starts(rows->shape().rank(), w.Integer(row->shape().type, 0));
    starts[0] = row;
    return w.DynamicUpdateSlice(rows, w.rewriter().Reshape(value, Stacked(value->shape(), 1)),
                                starts);
  }

  // `results` are the new loop's; what is kept for the group begins at `at`.
  void WriteResults(HloWriter& w, const LoopUpdates& group, Parts& results, size_t& at) {
    Stacker stacker(w, trips_);
    for (const Instruction* input : group.Inputs()) {
      const LoopInputKind kind = KindOf(input, old_);
      if (kind == LoopInputKind::kConstant)
        stacker.SetFixed(input, CopyExpression(w.rewriter(), input));
      else if (kind == LoopInputKind::kPart)
        stacker.SetFixed(input, results[input->tuple_index()]);
    }
    for (const Instruction* input : Kept(group)) stacker.SetStacked(input, results[at++]);
    for (const Instruction* i : group.moved) stacker.Write(i);
    for (size_t k = 0; k < group.updates.size(); ++k)
      results[group.parts[k]] = w.rewriter().Reshape(stacker.Value(group.updates[k]->operand(1)),
                                                     group.updates[k]->shape());
  }

  WhileState old_;
  int64_t trips_;
  const std::vector<LoopUpdates>& groups_;
};

class ForwardSink : public ComputationPass {
 public:
  explicit ForwardSink(std::vector<Opcode> collectives) : collectives_(std::move(collectives)) {}
  absl::string_view name() const override { return "collective-pipeliner-forward-sink"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    for (Instruction* i : c.PostOrder()) {
      const std::optional<CollectiveLoop> loop = MatchCountedLoop(i);
      if (!loop) continue;
      std::vector<LoopUpdates> groups;
      for (LoopUpdates& group : FindLoopUpdates(*loop, collectives_, true))
        if (FillsArrays(group, *loop) && CanStack(group, loop->state))
          groups.push_back(std::move(group));
      if (groups.empty() || !control().Permit(name(), *i, *i)) continue;
      Rewriter r(c);
      r.set_subject(i);
      i->ReplaceAllUsesWith(Sinker(*loop, groups).Make(r));
      c.RemoveIfDead(i);
      changed = true;
    }
    if (!changed) return false;
    RemoveDead(c);
    RemoveUncalled(*c.module());
    return true;
  }

 private:
  std::vector<Opcode> collectives_;
};

}  // namespace

// collective-pipeliner-forward-sink: see above. Option `opcodes`: the collectives; all-reduces
// where none is named. Exact.
std::unique_ptr<Pass> CreateCollectivePipelinerForwardSink(PassArguments& arguments) {
  return std::make_unique<ForwardSink>(CollectivesOf(arguments, {"all-reduce"}));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
