// reshape-decomposer: decomposes reshapes into bitcasts and copies.
// A reshape that leaves every element where it lies becomes a bitcast; any other becomes a copy
// into row-major order before the bitcast, after it, or both. Runs after layout-assignment. Cost:
// linear.
//   reshape f32[2,3]{0,1} -> f32[6]  ->  copy to {1,0}, bitcast
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

struct Dims {
  DimVector sizes, strides;  // without those of size one
};

Dims WithoutOnes(const Shape& shape) {
  const DimVector strides = LayoutStrides(shape);
  Dims dims;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape.dims[d] == 1) continue;
    dims.sizes.push_back(shape.dims[d]);
    dims.strides.push_back(strides[d]);
  }
  return dims;
}

// Dimensions [begin, end) lie in memory as one.
bool IsOneRun(const Dims& dims, size_t begin, size_t end) {
  for (size_t d = begin; d + 1 < end; ++d)
    if (dims.strides[d] != dims.strides[d + 1] * dims.sizes[d + 1]) return false;
  return true;
}

// Both shapes give each logical position the same place in memory. The dimensions of the two are
// taken in the smallest groups of equal product: each group must be one run in both, equally
// spaced.
bool IsBitcast(const Shape& from, const Shape& to) {
  if (from.ElementCount() == 0) return true;
  const Dims a = WithoutOnes(from), b = WithoutOnes(to);
  size_t i = 0, j = 0;
  while (i < a.sizes.size() && j < b.sizes.size()) {
    const size_t group_a = i, group_b = j;
    int64_t product_a = a.sizes[i++], product_b = b.sizes[j++];
    while (product_a != product_b) {
      if (product_a < product_b) {
        product_a *= a.sizes[i++];
      } else {
        product_b *= b.sizes[j++];
      }
    }
    if (!IsOneRun(a, group_a, i) || !IsOneRun(b, group_b, j) ||
        a.strides[i - 1] != b.strides[j - 1])
      return false;
  }
  return true;
}

Instruction* Copy(Instruction* of, const Shape& shape, Rewriter& r) {
  return of->shape() == shape ? of : r.Add(Opcode::kCopy, shape, {of});
}

absl::StatusOr<Instruction*> DecomposeReshape(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReshape) return nullptr;
  const Shape &from = i->operand(0)->shape(), &to = i->shape();
  if (from.HasDynamicDims() || to.HasDynamicDims()) return nullptr;
  if (IsBitcast(from, to)) return r.Add(Opcode::kBitcast, to, {i->operand(0)});
  const Shape plain_from = from.WithDefaultLayout(), plain_to = to.WithDefaultLayout();
  Instruction* operand = Copy(i->operand(0), plain_from, r);
  return Copy(r.Add(Opcode::kBitcast, plain_to, {operand}), to, r);
}

}  // namespace

std::unique_ptr<Pass> CreateReshapeDecomposer() {
  return MakeExpander("reshape-decomposer", DecomposeReshape);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
