// gather(pad(x), i) -> pad(gather(x, i)): what only padding would give is not gathered.
// Where the padding lies in
//   a dimension that the gather takes whole        the slice is smaller, its result is padded
//   a batch dimension that is padded in i as well  neither is padded, the result is
//   an array that is reshaped before the gather    the reshape comes first, if it leaves the padded
//                                                  dimensions as they are
// Padding of a dimension that indices select in stays. Cost: the rank of the operands.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/simplify/facts.h"
#include "passes/simplify/rule.h"

namespace hlokit {
namespace {

// An array as it was before padding, which dimensions the padding made how much longer, and by what
// value.
struct Padded {
  Instruction* x = nullptr;
  Instruction* value = nullptr;
  PaddingConfig padding;
};

// For each dimension of `from` the dimension of `to` that a reshape leaves as it is, or -1: the one
// of equal size with as many elements before it.
DimVector UnmodifiedDims(const Shape& from, const Shape& to) {
  DimVector map(from.rank(), -1);
  int64_t a = 0, b = 0, before_a = 1, before_b = 1;
  while (a < from.rank() && b < to.rank()) {
    if (before_a == before_b && from.dims[a] == to.dims[b]) {
      map[a] = b;
      before_a *= from.dims[a++];
      before_b *= to.dims[b++];
    } else if (before_a <= before_b) {
      before_a *= from.dims[a++];
    } else {
      before_b *= to.dims[b++];
    }
  }
  return map;
}

// What `operand` pads, through a reshape.
std::optional<Padded> PaddedOf(const Instruction* operand, Rewriter& r) {
  const Instruction* reshape = Is(operand, Opcode::kReshape) ? operand : nullptr;
  const Instruction* pad = reshape != nullptr ? operand->operand(0) : operand;
  if (!Is(pad, Opcode::kPad)) return std::nullopt;
  const PaddingConfig& padding = pad->attr<PadAttrs>().padding;
  for (const PaddingDim& d : padding)
    if (d.low < 0 || d.high < 0) return std::nullopt;
  Instruction* x = pad->operand(0);
  if (reshape == nullptr) return Padded{x, pad->operand(1), padding};
  const DimVector map = UnmodifiedDims(pad->shape(), reshape->shape());
  Padded made{nullptr, pad->operand(1), PaddingConfig(reshape->shape().rank())};
  Shape shape = reshape->shape();
  for (int64_t d = 0; d < pad->shape().rank(); ++d) {
    if (padding[d] == PaddingDim{}) continue;
    if (map[d] < 0) return std::nullopt;
    made.padding[map[d]] = padding[d];
    shape.dims[map[d]] = x->shape().dims[d];
  }
  made.x = r.Reshape(x, shape);
  return made;
}

// The dimension of the result that dimension `d` of the indices becomes.
int64_t ResultDimOf(const GatherAttrs& attrs, int64_t result_rank, int64_t d) {
  int64_t skip = d - (d > attrs.index_vector_dim ? 1 : 0);
  for (int64_t place = 0; place < result_rank; ++place)
    if (!Contains(attrs.offset_dims, place) && skip-- == 0) return place;
  return -1;
}

// One gather while it is rewritten.
class UnpaddedGather {
 public:
  UnpaddedGather(Instruction* i, const Padded& from, Rewriter& r)
      : i_(i),
        from_(from),
        r_(r),
        attrs_(i->attr<GatherAttrs>()),
        shape_(i->shape()),
        after_(i->shape().rank()) {}

  Instruction* Make() {
    size_t next = 0;
    bool any = false;
    for (int64_t d = 0; d < from_.x->shape().rank(); ++d) {
      const bool batch = Contains(attrs_.operand_batching_dims, d);
      const bool offset = !batch && !Contains(attrs_.collapsed_slice_dims, d);
      const int64_t place = offset ? attrs_.offset_dims[next++] : -1;
      if (from_.padding[d] == PaddingDim{}) continue;
      if (!(batch ? TakeBatch(d) : offset && TakeWhole(d, place))) return nullptr;
      any = true;
    }
    Instruction* indices = any ? Indices() : nullptr;
    if (indices == nullptr) return nullptr;
    Instruction* gather = r_.Clone(i_, shape_, {from_.x, indices});
    gather->mutable_attr<GatherAttrs>() = attrs_;
    return r_.Add(Opcode::kPad, i_->shape(), {gather, from_.value}, PadAttrs{std::move(after_)});
  }

 private:
  bool TakeWhole(int64_t d, int64_t place) {
    if (attrs_.slice_sizes[d] != i_->operand(0)->shape().dims[d] ||
        Contains(attrs_.start_index_map, d))
      return false;
    attrs_.slice_sizes[d] = shape_.dims[place] = from_.x->shape().dims[d];
    after_[place] = from_.padding[d];
    return true;
  }

  // Padding of the indices in the same batch dimension.
  bool TakeBatch(int64_t d) {
    const Instruction* pad = i_->operand(1);
    if (!Is(pad, Opcode::kPad)) return false;
    const auto k =
        std::find(attrs_.operand_batching_dims.begin(), attrs_.operand_batching_dims.end(), d) -
        attrs_.operand_batching_dims.begin();
    const int64_t in_indices = attrs_.start_indices_batching_dims[k];
    if (!(pad->attr<PadAttrs>().padding[in_indices] == from_.padding[d])) return false;
    const int64_t place = ResultDimOf(attrs_, shape_.rank(), in_indices);
    if (place < 0) return false;
    shape_.dims[place] = from_.x->shape().dims[d];
    after_[place] = from_.padding[d];
    unpadded_.push_back(in_indices);
    return true;
  }

  // The indices without the padding of batch dimensions, if they have no other.
  Instruction* Indices() {
    Instruction* indices = i_->operand(1);
    if (unpadded_.empty()) return indices;
    const PaddingConfig& padding = indices->attr<PadAttrs>().padding;
    for (size_t d = 0; d < padding.size(); ++d)
      if (!(padding[d] == PaddingDim{}) && !Contains(unpadded_, static_cast<int64_t>(d)))
        return nullptr;
    return indices->operand(0);
  }

  Instruction* i_;
  const Padded& from_;
  Rewriter& r_;
  GatherAttrs attrs_;
  Shape shape_;
  PaddingConfig after_;
  DimVector unpadded_;
};

}  // namespace

Instruction* GatherBeforePad(Instruction* i, Rewriter& r) {
  const std::optional<Padded> from = PaddedOf(i->operand(0), r);
  return from ? UnpaddedGather(i, *from, r).Make() : nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
