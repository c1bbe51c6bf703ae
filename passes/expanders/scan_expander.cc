// Operations with a body or groups as loops and masks.
//
// Scans as loops, ragged dots as masked dots.
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

std::vector<Instruction*> At(HloWriter& w, const Shape& shape, int64_t dim, Instruction* i) {
  std::vector<Instruction*> starts(shape.rank(), w.Integer(ElementType::kS32, 0));
  starts[dim] = i;
  return starts;
}

Instruction* SliceAt(HloWriter& w, Instruction* x, int64_t dim, Instruction* i) {
  DimVector sizes = x->shape().dims;
  sizes[dim] = 1;
  Instruction* slice = w.DynamicSlice(x, At(w, x->shape(), dim, i), sizes);
  sizes.erase(sizes.begin() + dim);
  return w.Reshape(slice, sizes);
}

Instruction* WithSliceAt(HloWriter& w, Instruction* x, Instruction* slice, int64_t dim,
                         Instruction* i) {
  DimVector sizes = x->shape().dims;
  sizes[dim] = 1;
  return w.DynamicUpdateSlice(x, w.Reshape(slice, sizes), At(w, x->shape(), dim, i));
}

// The scanned arrays, the stacked results and the carries of one scan, in this order.
struct ScanParts {
  const Instruction* scan;
  int64_t inputs, outputs, carries, dim, steps;

  std::vector<Instruction*> Step(HloWriter& w, Instruction* k,
                                 absl::Span<Instruction* const> state) const {
    Instruction* i = k;
    if (scan->attr<ScanAttrs>().is_reverse)
      i = w.Binary(Opcode::kSubtract, w.Integer(k->shape().type, steps - 1), k);
    std::vector<Instruction*> arguments, next(state.begin(), state.end());
    for (int64_t n = 0; n < inputs; ++n) arguments.push_back(SliceAt(w, state[n], dim, i));
    for (int64_t n = 0; n < carries; ++n) arguments.push_back(state[inputs + outputs + n]);
    Instruction* made = w.Call(scan->to_apply(), arguments);
    const bool tuple = made->shape().IsTuple();
    for (int64_t n = 0; n < outputs + carries; ++n) {
      Instruction* part = tuple ? w.Part(made, n) : made;
      next[inputs + n] = n < outputs ? WithSliceAt(w, state[inputs + n], part, dim, i) : part;
    }
    return next;
  }
};

Made ExpandScan(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kScan || i->shape().HasDynamicDims()) return nullptr;
  const auto& attrs = i->attr<ScanAttrs>();
  const bool tuple = i->shape().IsTuple();
  if (i->to_apply()->root()->shape().IsTuple() != tuple) return nullptr;
  const int64_t results = tuple ? i->shape().elements.size() : 1;
  ScanParts scan{i,
                 i->operand_count() - attrs.num_carries,
                 results - attrs.num_carries,
                 attrs.num_carries,
                 attrs.dimensions[0],
                 0};
  for (const Instruction* operand : i->operands())
    if (!operand->shape().IsArray()) return nullptr;
  auto shape = [&](int64_t n) -> const Shape& {
    return tuple ? i->shape().elements[n] : i->shape();
  };
  const Shape& scanned = scan.inputs > 0 ? i->operand(0)->shape() : shape(0);
  scan.steps = scanned.dims[scan.dim];
  if (scan.steps == 0) return nullptr;
  HloWriter w(r);
  std::vector<Instruction*> state;
  for (int64_t n = 0; n < scan.inputs; ++n) state.push_back(i->operand(n));
  for (int64_t n = 0; n < scan.outputs; ++n)
    state.push_back(w.FillInteger(RowMajor(shape(n).type, shape(n).dims), 0));
  for (int64_t n = 0; n < scan.carries; ++n) state.push_back(i->operand(scan.inputs + n));
  const auto after =
      CountedLoop(w, "scan", scan.steps, state,
                  [&](HloWriter& inner, Instruction* k, absl::Span<Instruction* const> now) {
                    return scan.Step(inner, k, now);
                  });
  const std::vector<Instruction*> made(after.begin() + scan.inputs, after.end());
  return tuple ? w.Tuple(made) : made[0];
}

// How a dimension of groups is put into an array: at position `at`, of sizes [batch..., groups]
// whose batch dimensions are those of the array.
struct GroupPlace {
  Instruction* sizes;
  int64_t at;

  int64_t BatchCount() const { return sizes->shape().rank() - 1; }
  int64_t Moved(int64_t d) const { return d < at ? d : d + 1; }
  // The group dimension first, where it is wanted.
  DimVector Moved(const DimVector& dims, bool group_first = false) const {
    DimVector moved;
    if (group_first) moved.push_back(at);
    for (const int64_t d : dims) moved.push_back(Moved(d));
    return moved;
  }
};

// Whether position p along dimension `dim` of an array of `dims` lies in group g; `batch` are the
// dimensions of the array that the sizes have too.
Instruction* InGroup(HloWriter& w, const GroupPlace& place, const DimVector& dims, int64_t dim,
                     const DimVector& batch) {
  Instruction* sizes = place.sizes;
  const int64_t nb = place.BatchCount(), groups = sizes->shape().dims[nb];
  const ElementType type = sizes->shape().type;
  DimVector square_dims = sizes->shape().dims, along;
  square_dims.push_back(groups);
  for (int64_t d = 0; d < nb; ++d) along.push_back(d);
  along.push_back(nb + 1);
  const Shape square = RowMajor(type, square_dims);
  Instruction* before = w.Compare(w.Iota(type, square.dims, nb + 1), w.Iota(type, square.dims, nb),
                                  ComparisonDirection::kLe);
  Instruction* counted =
      w.Select(before, w.Broadcast(sizes, square.dims, along), w.FillInteger(square, 0));
  Instruction* ends = w.Reduce(counted, w.Integer(type, 0), {nb + 1},
                               MakeReducer(*sizes->module(), Opcode::kAdd, type));
  Instruction* starts = w.Binary(Opcode::kSubtract, ends, sizes);
  Instruction* at = w.Iota(type, dims, dim);
  DimVector where(batch.begin(), batch.begin() + nb);
  where.push_back(place.at);
  return w.Binary(Opcode::kAnd,
                  w.Compare(at, w.Broadcast(starts, dims, where), ComparisonDirection::kGe),
                  w.Compare(at, w.Broadcast(ends, dims, where), ComparisonDirection::kLt));
}

// x for each group, zero outside of the group along dimension `ragged` of x.
Instruction* Grouped(HloWriter& w, Instruction* x, const GroupPlace& place, int64_t ragged,
                     const DimVector& batch) {
  DimVector dims = x->shape().dims, where;
  for (int64_t d = 0; d < x->shape().rank(); ++d) where.push_back(place.Moved(d));
  dims.insert(dims.begin() + place.at, place.sizes->shape().dims[place.BatchCount()]);
  Instruction* copies = w.Broadcast(x, dims, where);
  return w.Select(InGroup(w, place, dims, place.Moved(ragged), place.Moved(batch)), copies,
                  w.FillInteger(copies->shape(), 0));
}

Made RewriteRaggedDot(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kRaggedDot || i->shape().HasDynamicDims()) return nullptr;
  const auto& attrs = i->attr<RaggedDotAttrs>();
  const int64_t ragged = attrs.lhs_ragged_dims[0];
  // Batches beyond the sum of the sizes are zero, which a plain dot would not leave them.
  if (Contains(attrs.lhs_batch_dims, ragged)) return nullptr;
  GroupPlace place{i->operand(2), 0};
  place.at = place.BatchCount();
  if (place.at != 0 && place.at != static_cast<int64_t>(attrs.lhs_batch_dims.size()))
    return nullptr;  // sizes for each row of another dimension
  HloWriter w(r);
  Instruction* lhs = Grouped(w, i->operand(0), place, ragged, attrs.lhs_batch_dims);
  Instruction* rhs = i->operand(1);
  DotAttrs dot;
  dot.operand_precision = attrs.operand_precision;
  dot.algorithm = attrs.algorithm;
  const auto& contracted = attrs.lhs_contracting_dims;
  if (!Contains(contracted, ragged)) {  // the groups are summed, all but a row's own being zero
    dot.lhs_batch_dims = place.Moved(attrs.lhs_batch_dims);
    dot.rhs_batch_dims = attrs.rhs_batch_dims;
    dot.lhs_contracting_dims = place.Moved(contracted, true);
    dot.rhs_contracting_dims = attrs.rhs_contracting_dims;
    dot.rhs_contracting_dims.insert(dot.rhs_contracting_dims.begin(), attrs.rhs_group_dims[0]);
  } else {
    int64_t k = 0;
    while (contracted[k] != ragged) ++k;
    rhs = Grouped(w, rhs, place, attrs.rhs_contracting_dims[k], attrs.rhs_batch_dims);
    dot.lhs_batch_dims = place.Moved(attrs.lhs_batch_dims, true);
    dot.rhs_batch_dims = place.Moved(attrs.rhs_batch_dims, true);
    dot.lhs_contracting_dims = place.Moved(contracted);
    dot.rhs_contracting_dims = place.Moved(attrs.rhs_contracting_dims);
  }
  return r.Add(Opcode::kDot, i->shape(), {lhs, rhs}, std::move(dot));
}

}  // namespace

// scan_expander: scan becomes a loop that calls its computation on a slice a round. Exact.
std::unique_ptr<Pass> CreateScanExpander() { return MakeExpander("scan_expander", ExpandScan); }

// ragged_dot_rewriter: a ragged dot becomes a dot of all groups, of which each row's own is kept by
// a mask. Infinities of one group reach the others as NaN. Ragged batch dimensions stay, and group
// sizes of more dimensions than groups and batch.
std::unique_ptr<Pass> CreateRaggedDotRewriter() {
  return MakeExpander("ragged_dot_rewriter", RewriteRaggedDot);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
