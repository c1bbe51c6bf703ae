// Index vectors as rows of a matrix, and batching dimensions as index parts.
//   indices s32[5,2], batching dimension 0 of the operand  ->  s32[5,3] with iota(5) in front
// Then a loop over rows, or a mask, treats all gathers and scatters alike.
#include "passes/expanders/indexed_windows.h"

#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

// The indices with a column of positions for each of `batching` before their own parts.
Instruction* WithPositions(HloWriter& w, Instruction* indices, int64_t index_vector_dim,
                           absl::Span<const int64_t> batching) {
  DimVector dims = indices->shape().dims;
  if (index_vector_dim == indices->shape().rank()) dims.push_back(1);
  int64_t largest = 0;
  for (int64_t d : batching) largest = std::max(largest, dims[d]);
  const ElementType type = indices->shape().type;
  const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  if (bits < 31 && largest >= (int64_t{1} << bits)) indices = w.Convert(indices, ElementType::kS32);
  indices = w.Reshape(indices, dims);
  std::vector<Instruction*> parts;
  DimVector column = dims;
  column[index_vector_dim] = 1;
  for (int64_t d : batching) parts.push_back(w.Iota(indices->shape().type, column, d));
  parts.push_back(indices);
  return w.Concatenate(parts, index_vector_dim);
}

// Positions that count the first dimensions of the indices in order leave sorted indices sorted.
bool StaySorted(bool sorted, const DimVector& batching, const DimVector& batches_of_indices) {
  return sorted && IsIota(batches_of_indices) && std::is_sorted(batching.begin(), batching.end());
}

DimVector Joined(const DimVector& first, const DimVector& second) {
  DimVector all = first;
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

DimVector Sorted(DimVector dims) {
  std::sort(dims.begin(), dims.end());
  return dims;
}

}  // namespace

PlainGather WithoutBatching(const Instruction& gather, HloWriter& w) {
  PlainGather plain{gather.operand(1), gather.attr<GatherAttrs>()};
  GatherAttrs& a = plain.attrs;
  if (a.operand_batching_dims.empty()) return plain;
  plain.indices =
      WithPositions(w, plain.indices, a.index_vector_dim, a.start_indices_batching_dims);
  a.start_index_map = Joined(a.operand_batching_dims, a.start_index_map);
  a.collapsed_slice_dims = Sorted(Joined(a.operand_batching_dims, a.collapsed_slice_dims));
  a.indices_are_sorted =
      StaySorted(a.indices_are_sorted, a.operand_batching_dims, a.start_indices_batching_dims);
  a.operand_batching_dims.clear();
  a.start_indices_batching_dims.clear();
  return plain;
}

PlainScatter WithoutBatchingOfScatter(const Instruction& scatter, HloWriter& w) {
  const int64_t arrays = (scatter.operand_count() - 1) / 2;
  PlainScatter plain{scatter.operand(arrays), scatter.attr<ScatterAttrs>()};
  ScatterAttrs& a = plain.attrs;
  if (a.input_batching_dims.empty()) return plain;
  plain.indices =
      WithPositions(w, plain.indices, a.index_vector_dim, a.scatter_indices_batching_dims);
  a.scatter_dims_to_operand_dims = Joined(a.input_batching_dims, a.scatter_dims_to_operand_dims);
  a.inserted_window_dims = Sorted(Joined(a.input_batching_dims, a.inserted_window_dims));
  a.indices_are_sorted =
      StaySorted(a.indices_are_sorted, a.input_batching_dims, a.scatter_indices_batching_dims);
  a.input_batching_dims.clear();
  a.scatter_indices_batching_dims.clear();
  return plain;
}

int64_t IndexVectorCount(const Shape& indices, int64_t index_vector_dim) {
  int64_t count = 1;
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != index_vector_dim) count *= indices.dims[d];
  return count;
}

Instruction* IndexRows(HloWriter& w, Instruction* indices, int64_t index_vector_dim) {
  const Shape& shape = indices->shape();
  const int64_t rows = IndexVectorCount(shape, index_vector_dim);
  if (index_vector_dim == shape.rank()) return w.Reshape(indices, {rows, 1});
  DimVector order;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (d != index_vector_dim) order.push_back(d);
  order.push_back(index_vector_dim);
  const int64_t length = shape.dims[index_vector_dim];
  return w.Reshape(w.Transpose(indices, order), {rows, length});
}

Instruction* PartOf(HloWriter& w, Instruction* x, Instruction* i) {
  DimVector sizes = x->shape().dims;
  const DimVector part(sizes.begin() + 1, sizes.end());
  if (i != nullptr) {
    std::vector<Instruction*> starts = {i};
    while (starts.size() < sizes.size())
      starts.push_back(starts.size() > 1 ? starts[1] : w.Integer(i->shape().type, 0));
    sizes[0] = 1;
    x = w.DynamicSlice(x, starts, sizes);
  }
  return w.Reshape(x, part);
}

Instruction* WithPart(HloWriter& w, Instruction* x, Instruction* part, Instruction* i) {
  DimVector dims = x->shape().dims;
  dims[0] = 1;
  part = w.Reshape(part, dims);
  if (i == nullptr) return part;
  std::vector<Instruction*> starts = {i};
  while (starts.size() < dims.size())
    starts.push_back(starts.size() > 1 ? starts[1] : w.Integer(i->shape().type, 0));
  return w.DynamicUpdateSlice(x, part, starts);
}

Instruction* RowOf(HloWriter& w, Instruction* rows, Instruction* i) { return PartOf(w, rows, i); }

std::vector<Instruction*> WindowStart(HloWriter& w, Instruction* row,
                                      absl::Span<const int64_t> index_map, int64_t rank) {
  std::vector<Instruction*> starts(rank, nullptr);
  for (size_t k = 0; k < index_map.size(); ++k) starts[index_map[k]] = w.ElementOf(row, k);
  Instruction* zero = nullptr;
  for (Instruction*& start : starts) {
    if (start != nullptr) continue;
    if (zero == nullptr) zero = w.Integer(row->shape().type, 0);
    start = zero;
  }
  return starts;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
