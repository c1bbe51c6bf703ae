// Ragged dots, partitioned along batch, free and contracted dimensions that are not ragged.
//   a[8,m,32] x b[g,8,32,4] by c[8,g]: each partition's product of its parts; a sum over those that
//   share a batch where the 32 are a part of what is contracted
// Rows of the ragged dimension belong to groups whose sizes are known at run time alone, so that
// it is made whole, and with it the dimension of groups. Where a batch dimension is ragged all is
// computed whole: batches beyond the sum of the sizes are zero. The right side and the sizes come
// to the cut that the left side has along the dimensions that they share.
#include "absl/algorithm/container.h"
#include "passes/spmd/cut_places.h"
#include "passes/spmd/product_partitioner.h"
#include "passes/spmd/spmd_visitor.h"
#include "passes/spmd/spread_rules.h"

namespace hlokit {
namespace {

ProductDimGroups GroupsOf(const ProductDims& dims) {
  ProductDimGroups groups;
  const auto take = [](const std::vector<ProductDims::Dim>& from,
                       std::vector<ProductDimNumbers>& to) {
    for (const ProductDims::Dim& d : from) to.push_back({d.lhs, d.rhs, d.output});
  };
  take(dims.batch, groups.batch);
  take(dims.contracting, groups.contracting);
  take(dims.lhs_free, groups.lhs_only);
  take(dims.rhs_free, groups.rhs_only);
  return groups;
}

// Without the ragged dimension, which is no dimension of parts.
void LeaveOut(int64_t ragged, std::vector<ProductDimNumbers>& dims) {
  std::erase_if(dims, [ragged](const ProductDimNumbers& d) { return d.lhs == ragged; });
}

void SetDims(Shape& local, const ProductDimGroups& dims, const Shape& a, const Shape& b) {
  for (const ProductDimNumbers& d : dims.All())
    if (d.out >= 0) local.dims[d.out] = d.lhs >= 0 ? a.dims[d.lhs] : b.dims[d.rhs];
}

// Zeros in the padding along contracted dimensions.
Instruction* WithoutPadding(Sharder& sharder, const Shard& x, const DimVector& contracted) {
  DimVector skipped;
  for (int64_t d = 0; d < x.whole.rank(); ++d)
    if (!absl::c_linear_search(contracted, d)) skipped.push_back(d);
  return sharder.PadWith(x, sharder.writer().Zero(x.whole.type), {}, skipped);
}

}  // namespace

absl::Status SpmdVisitor::RaggedDot(const Instruction& i) {
  const auto& attrs = i.attr<RaggedDotAttrs>();
  if ((!cuts_[0].IsTiled() && !cuts_[0].IsReplicated()) || attrs.lhs_ragged_dims.empty() ||
      i.operand_count() != 3)
    return Default(i);
  const int64_t ragged = attrs.lhs_ragged_dims[0];
  if (absl::c_linear_search(attrs.lhs_batch_dims, ragged)) return Default(i);
  ProductDimGroups dims = GroupsOf(ProductDimsOf(i));
  LeaveOut(ragged, dims.contracting);
  LeaveOut(ragged, dims.lhs_only);
  Shard a = Of(i.operand(0)), b = Of(i.operand(1)), sizes = Of(i.operand(2));
  if (!a.cut().IsTiled()) return Default(i);
  a = sharder_.To(a, MadeWhole(a.cut(), {ragged}));
  if (!b.cut().IsTiled()) b = sharder_.Replicated(b);
  const int64_t n = scope_->size();
  const auto at_a = PlacesOf(a.cut(), a.whole.rank(), n);
  const auto at_b = PlacesOf(b.cut(), b.whole.rank(), n);
  CutAssembly for_b(b.whole.rank(), n), for_sizes(sizes.whole.rank(), n), out(i.shape().rank(), n);
  for (size_t k = 0; k < dims.batch.size(); ++k) {
    const ProductDimNumbers& d = dims.batch[k];
    for_b.Take(d.rhs, a.cut(), at_a, d.lhs);
    out.Take(d.out, a.cut(), at_a, d.lhs);
    if (sizes.whole.rank() > 1) for_sizes.Take(static_cast<int64_t>(k), a.cut(), at_a, d.lhs);
  }
  for (const ProductDimNumbers& d : dims.contracting) for_b.Take(d.rhs, a.cut(), at_a, d.lhs);
  for (const ProductDimNumbers& d : dims.lhs_only) out.Take(d.out, a.cut(), at_a, d.lhs);
  for (const ProductDimNumbers& d : dims.rhs_only) {
    for_b.Take(d.rhs, b.cut(), at_b, d.rhs);
    out.Take(d.out, b.cut(), at_b, d.rhs);
  }
  const std::optional<Cut> cut_b = for_b.Made(), cut_sizes = for_sizes.Made(), cut = out.Made();
  if (!cut_b || !cut_sizes || !cut) return Default(i);
  const DimVector contracted = DimsIn(dims.contracting, ProductSide::kLhs);
  for (const Devices& group : GroupsAlong(a.cut(), contracted))
    for (const int64_t device : group)  // partial sums of the same columns
      for (const ProductDimNumbers& d : dims.rhs_only)
        if (at_b[device][d.rhs] != at_b[group[0]][d.rhs]) return Default(i);
  b = sharder_.To(b, *cut_b);
  sizes = sharder_.To(sizes, *cut_sizes);
  Instruction* lhs = WithoutPadding(sharder_, a, contracted);
  Instruction* rhs = WithoutPadding(sharder_, b, DimsIn(dims.contracting, ProductSide::kRhs));
  Shape local = i.shape();
  SetDims(local, dims, lhs->shape(), rhs->shape());
  Instruction* product = Clone(i, local, {lhs, rhs, sizes.value});
  if (TilesAlong(a.cut(), dims.contracting, ProductSide::kLhs) > 1)
    product = writer_.AllReduceAlong(product, a.cut(), contracted, writer_.Add(local.type), scope_);
  Set(i, Array(product, i.shape(), *cut));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
