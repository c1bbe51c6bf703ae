// Starts of windows: what the indices say, by the dimensions that they are about.
#include "codegen/scatter_starts.h"

#include "ops/dim_lists.h"

namespace hlokit {
DimVector ScatterBatchDims(const Instruction& scatter) {
  const Shape& updates = scatter.operand(scatter.operand_count() - 1)->shape();
  DimVector batch;
  for (int64_t d = 0; d < updates.rank(); ++d)
    if (!Contains(scatter.attr<ScatterAttrs>().update_window_dims, d)) batch.push_back(d);
  return batch;
}

bool IsScatterWindowDim(const ScatterAttrs& dims, int64_t d) {
  return !Contains(dims.inserted_window_dims, d) && !Contains(dims.input_batching_dims, d);
}

int64_t ScatterWindowSize(const Instruction& scatter, int64_t d) {
  const auto& dims = scatter.attr<ScatterAttrs>();
  if (!IsScatterWindowDim(dims, d)) return 1;
  int64_t at = 0;
  for (int64_t e = 0; e < d; ++e) at += IsScatterWindowDim(dims, e);
  const Shape& updates = scatter.operand(scatter.operand_count() - 1)->shape();
  return updates.dims[dims.update_window_dims[at]];
}

ScatterStart EmitScatterStart(ElementEmitter& emitter, const Instruction& scatter,
                              absl::Span<llvm::Value* const> index) {
  Builder& b = emitter.builder();
  const auto& dims = scatter.attr<ScatterAttrs>();
  const Shape& base = scatter.operand(0)->shape();
  const Instruction* indices = scatter.operand((scatter.operand_count() - 1) / 2);
  const DimVector batch = ScatterBatchDims(scatter);
  ScatterStart start = {std::vector<llvm::Value*>(base.rank(), b.Index(0)), b.getTrue()};
  const auto index_at = [&](int64_t component) {
    std::vector<llvm::Value*> at;
    for (const int64_t d : batch) at.push_back(index[d]);
    if (dims.index_vector_dim < indices->shape().rank())
      at.insert(at.begin() + dims.index_vector_dim, b.Index(component));
    return ElementIndex::Multi(std::move(at));
  };
  for (size_t k = 0; k < dims.scatter_dims_to_operand_dims.size(); ++k) {
    const int64_t d = dims.scatter_dims_to_operand_dims[k];
    llvm::Value* raw = emitter.Emit(indices, index_at(static_cast<int64_t>(k))).re;
    // Compared in the wider of the two types: a start may be any number of its own.
    llvm::Type* type = raw->getType()->getScalarSizeInBits() > b.IndexType()->getBitWidth()
                           ? raw->getType()
                           : b.IndexType();
    llvm::Value* first =
        IsUnsigned(indices->shape().type) ? b.CreateZExt(raw, type) : b.CreateSExt(raw, type);
    start.at[d] = b.CreateTrunc(first, b.IndexType());
    const int64_t last = base.dims[d] - ScatterWindowSize(scatter, d);
    if (last < 0) {
      start.inside = b.getFalse();
      return start;
    }
    start.inside = b.CreateAnd(
        start.inside,
        b.CreateICmpULE(first, llvm::ConstantInt::get(type, static_cast<uint64_t>(last))));
  }
  for (size_t k = 0; k < dims.input_batching_dims.size(); ++k) {
    int64_t from = dims.scatter_indices_batching_dims[k];
    if (from > dims.index_vector_dim) --from;
    start.at[dims.input_batching_dims[k]] = index[batch[from]];
  }
  return start;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
