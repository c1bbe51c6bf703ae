// Layouts of transposes, reshapes and broadcasts that move nothing.
#include "passes/rewrite/unmoved.h"

#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

Shape Ordered(const Shape& like, absl::Span<const int64_t> dims, const DimVector& minor_to_major) {
  Shape shape = like;
  shape.dims.assign(dims.begin(), dims.end());
  shape.has_layout = true;
  shape.layout.minor_to_major.assign(minor_to_major.begin(), minor_to_major.end());
  return shape;
}

}  // namespace

Instruction* TransposeUnmoved(Rewriter& r, Instruction* x, absl::Span<const int64_t> permutation) {
  if (IsIota(permutation)) return x;
  DimVector dims, where(permutation.size()), order;
  for (size_t d = 0; d < permutation.size(); ++d) {
    dims.push_back(x->shape().dims[permutation[d]]);
    where[permutation[d]] = static_cast<int64_t>(d);
  }
  for (int64_t d : x->shape().MinorToMajor()) order.push_back(where[d]);
  return r.Add(Opcode::kTranspose, Ordered(x->shape(), dims, order), {x},
               DimensionsAttrs{DimVector(permutation.begin(), permutation.end())});
}

Instruction* BitcastTo(Rewriter& r, Instruction* x, absl::Span<const int64_t> dims) {
  Shape shape = x->shape();
  shape.dims.assign(dims.begin(), dims.end());
  shape.layout = Layout::Default(shape.rank());
  shape.has_layout = true;
  if (shape == x->shape()) return x;
  return r.Add(x->shape().IsRowMajor() ? Opcode::kBitcast : Opcode::kReshape, shape, {x});
}

Instruction* BroadcastUnmoved(Rewriter& r, Instruction* x, absl::Span<const int64_t> dims,
                              absl::Span<const int64_t> where) {
  DimVector order;
  for (int64_t d : x->shape().MinorToMajor()) order.push_back(where[d]);
  for (int64_t d = static_cast<int64_t>(dims.size()); d-- > 0;) {
    if (std::find(where.begin(), where.end(), d) != where.end()) continue;
    const auto next = std::find(order.begin(), order.end(), d + 1);
    order.insert(next == order.end() ? order.begin() : next + 1, d);
  }
  return r.Broadcast(x, Ordered(x->shape(), dims, order), where);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
