// Starts of windows: what the indices say, by the dimensions that they are about. A selection is a
// nest of loops over the window that carries what is selected so far and its place.
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

namespace {

class Selection {
 public:
  Selection(ElementEmitter& emitter, const Instruction& s, const ElementIndex& source)
      : emitter_(emitter),
        b_(emitter.builder()),
        s_(s),
        from_(s.operand(0)->shape()),
        source_(source),
        zero_(ZeroElement(b_, from_.type)),
        index_(static_cast<size_t>(from_.rank())) {}

  SelectedElement Emit() {
    Values start = {b_.getFalse()};
    for (llvm::Value* v : Flatten({zero_})) start.push_back(v);
    const auto places = static_cast<int64_t>(start.size());
    for (int64_t d = 0; d < from_.rank(); ++d) start.push_back(b_.Index(0));
    const Values chosen = Nest(0, b_.getTrue(), start);
    return {{chosen.begin() + places, chosen.end()}, chosen[0]};
  }

 private:
  // The loops from dimension `d` on. Carried: whether anything is chosen yet, the chosen value, its
  // index.
  Values Nest(int64_t d, llvm::Value* inside, const Values& carried) {
    if (d == from_.rank()) return Next(inside, carried);
    const WindowDim& w = s_.attr<WindowAttrs>().window[d];
    return EmitLoopCarrying(b_, w.size, carried, [&](llvm::Value* step, const Values& inner) {
      llvm::Value* place = b_.CreateNSWAdd(Scale(b_, source_.multi[d], w.stride),
                                           Scale(b_, step, w.window_dilation));
      place = b_.CreateNSWSub(place, b_.Index(w.pad_low));
      llvm::Value* const valid = b_.CreateICmpULT(place, b_.Index(from_.dims[d]));
      index_[d] = b_.CreateSelect(valid, place, b_.Index(0));
      emitter_.BeginScope();
      Values next = Nest(d + 1, b_.CreateAnd(inside, valid), inner);
      emitter_.EndScope();
      return next;
    });
  }

  Values Next(llvm::Value* inside, const Values& carried) {
    const ScalarValue candidate = emitter_.Emit(s_.operand(0), ElementIndex::Multi(index_));
    const Values held(carried.begin() + 1, carried.end() - from_.rank());
    const ScalarValue chosen = Unflatten(held, {&zero_, 1})[0];
    llvm::Value* const keep = emitter_.Apply(*s_.called(0), {chosen, candidate})[0].re;
    llvm::Value* const take = b_.CreateAnd(inside, b_.CreateNot(b_.CreateAnd(carried[0], keep)));
    Values fresh = {b_.getTrue()};
    for (llvm::Value* v : Flatten({candidate})) fresh.push_back(v);
    for (llvm::Value* v : index_) fresh.push_back(v);
    for (size_t k = 0; k < fresh.size(); ++k)
      fresh[k] = b_.CreateSelect(take, fresh[k], carried[k]);
    return fresh;
  }

  ElementEmitter& emitter_;
  Builder& b_;
  const Instruction& s_;
  const Shape& from_;
  const ElementIndex& source_;
  const ScalarValue zero_;
  std::vector<llvm::Value*> index_;  // of the candidate
};

}  // namespace

SelectedElement EmitSelectedElement(ElementEmitter& emitter, const Instruction& select_and_scatter,
                                    const ElementIndex& source) {
  return Selection(emitter, select_and_scatter, source).Emit();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
