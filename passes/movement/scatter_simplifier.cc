// scatter_simplifier: canonicalizes scatters: two-dimensional indices, updates of one window a row.
// Matches scatters without batching dimensions. Leaves a scatter of indices [rows, coordinates] and
// updates [rows, whole window], with transposes and reshapes of both before it, each where it moves
// or counts anything. Cost: linear.
//
// Scatters by rows of indices.
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/movement/index_rows.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

bool IsSimpleScatter(const ScatterAttrs& attrs, const Shape& operand, const Shape& indices) {
  if (indices.rank() != 2 || attrs.index_vector_dim != 1 || !attrs.inserted_window_dims.empty())
    return false;
  for (int64_t d = 0; d < operand.rank(); ++d)
    if (attrs.update_window_dims[d] != d + 1) return false;
  return true;
}

// [scatter dimensions..., window dimensions...] -> [rows, window] -> [rows, whole window].
Instruction* RowUpdates(Instruction* updates, const ScatterAttrs& attrs, int64_t rows, int rank,
                        Rewriter& r) {
  const Shape shape = updates->shape();
  DimVector order;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (!Contains(attrs.update_window_dims, d)) order.push_back(d);
  order.insert(order.end(), attrs.update_window_dims.begin(), attrs.update_window_dims.end());
  if (!IsIota(order)) {
    Shape moved = Shape::Array(shape.type, {});
    for (int64_t d : order) moved.dims.push_back(shape.dims[d]);
    updates = r.Add(Opcode::kTranspose, moved, {updates}, DimensionsAttrs{std::move(order)});
  }
  Shape flat = Shape::Array(shape.type, {rows}), whole = flat;
  for (int64_t d : attrs.update_window_dims) flat.dims.push_back(shape.dims[d]);
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    whole.dims.push_back(
        Contains(attrs.inserted_window_dims, d) ? 1 : shape.dims[attrs.update_window_dims[next++]]);
  if (updates->shape().dims != flat.dims) updates = r.Reshape(updates, flat);
  return updates->shape().dims == whole.dims ? updates : r.Reshape(updates, whole);
}

absl::StatusOr<Instruction*> SimplifyScatter(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kScatter) return nullptr;
  const ScatterAttrs attrs = i->attr<ScatterAttrs>();
  const int64_t count = i->operand_count() / 2;
  const Shape& operand = i->operand(0)->shape();
  const Shape& indices = i->operand(count)->shape();
  if (!attrs.input_batching_dims.empty() || IsSimpleScatter(attrs, operand, indices))
    return nullptr;
  for (const Instruction* x : i->operands())
    if (x->shape().HasDynamicDims() || x->shape().ElementCount() == 0) return nullptr;
  const IndexRows rows = MakeIndexRows(i->operand(count), attrs.index_vector_dim, r);
  std::vector<Instruction*> operands(i->operands().begin(), i->operands().begin() + count);
  operands.push_back(rows.indices);
  for (int64_t k = count + 1; k < i->operand_count(); ++k)
    operands.push_back(RowUpdates(i->operand(k), attrs, rows.count, operand.rank(), r));
  Instruction* made = r.Clone(i, i->shape(), operands);
  ScatterAttrs& plain = made->mutable_attr<ScatterAttrs>();
  plain.index_vector_dim = 1;
  plain.inserted_window_dims.clear();
  plain.update_window_dims.clear();
  for (int64_t d = 0; d < operand.rank(); ++d) plain.update_window_dims.push_back(d + 1);
  return made;
}

}  // namespace

std::unique_ptr<Pass> CreateScatterSimplifier() {
  return MakeExpander("scatter_simplifier", SimplifyScatter);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
