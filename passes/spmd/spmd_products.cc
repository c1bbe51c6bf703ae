// Dots and convolutions, partitioned.
//
// A convolution becomes a general product: each of its dimensions is batch, contracting, of one
// side alone, or a window that slides. Cuts along the first four need what a dot's do. Along a
// window each partition computes its rows of the result from its own rows and its neighbours'
// (halos):
//   f32[8] cut in two, window of 3: device 0 has rows 0 to 3 and gets row 4 from device 1
// Where the kernel is as long as the input (a gradient), each partition multiplies its rows and the
// partial sums are added by an all-reduce.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "ir/attributes.h"
#include "passes/spmd/cut_groups.h"
#include "passes/spmd/product_partitioner.h"
#include "passes/spmd/spmd_visitor.h"
#include "support/status.h"

namespace hlokit {
namespace {

// What a spatial dimension of a convolution is for.
enum class Spatial : uint8_t { kWindow, kBatch, kContracting, kLhsOnly, kRhsOnly };

Spatial RoleOf(int64_t lhs, int64_t rhs, int64_t out, const WindowDim& w) {
  const bool unpadded = w.pad_low == 0 && w.pad_high == 0 && w.window_dilation == 1;
  if (unpadded && !w.reversal && lhs == rhs && lhs == out && lhs == w.size &&
      w.base_dilation == lhs && w.stride == std::max<int64_t>(1, lhs - 1))
    return Spatial::kBatch;
  if (w.base_dilation != 1 || w.stride != 1) return Spatial::kWindow;
  if (unpadded && rhs == 1) return Spatial::kLhsOnly;
  if (w.window_dilation == 1 && lhs == 1 && w.reversal && w.pad_low == rhs - 1 &&
      w.pad_high == rhs - 1)
    return Spatial::kRhsOnly;
  if (unpadded && !w.reversal && lhs == rhs && out == 1) return Spatial::kContracting;
  return Spatial::kWindow;
}

// What the dimensions of a convolution are for; groups are a batch.
struct ConvolutionRoles {
  ProductDimGroups dims;
  std::vector<Spatial> roles;              // of spatial dimensions
  std::vector<ProductDimNumbers> windows;  // of spatial dimensions that are nothing else
};

ConvolutionRoles RolesOf(const Instruction& i) {
  const ConvolutionAttrs& conv = i.attr<ConvolutionAttrs>();
  const ConvDims& at = conv.dim_labels;
  ConvolutionRoles of;
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape();
  ProductDimGroups& dims = of.dims;
  const bool by_feature = conv.feature_group_count != 1, by_batch = conv.batch_group_count != 1;
  if (by_feature)
    dims.batch.push_back({at.input_feature, at.kernel_output_feature, at.output_feature});
  if (by_batch) dims.batch.push_back({at.input_batch, at.kernel_output_feature, at.output_feature});
  if (!by_batch) dims.lhs_only.push_back({at.input_batch, -1, at.output_batch});
  if (!by_feature && !by_batch)
    dims.rhs_only.push_back({-1, at.kernel_output_feature, at.output_feature});
  if (!by_feature) dims.contracting.push_back({at.input_feature, at.kernel_input_feature, -1});
  for (size_t k = 0; k < at.input_spatial.size(); ++k) {
    const ProductDimNumbers dim{at.input_spatial[k], at.kernel_spatial[k], at.output_spatial[k]};
    const Spatial role =
        RoleOf(lhs.dims[dim.lhs], rhs.dims[dim.rhs], i.shape().dims[dim.out], conv.window[k]);
    of.roles.push_back(role);
    if (role == Spatial::kBatch) dims.batch.push_back(dim);
    if (role == Spatial::kContracting) dims.contracting.push_back({dim.lhs, dim.rhs, -1});
    if (role == Spatial::kLhsOnly) dims.lhs_only.push_back({dim.lhs, -1, dim.out});
    if (role == Spatial::kRhsOnly) dims.rhs_only.push_back({-1, dim.rhs, dim.out});
    if (role == Spatial::kWindow) of.windows.push_back(dim);
  }
  return of;
}

// The window of what is left of a dimension.
void Shrink(Spatial role, int64_t lhs, int64_t rhs, WindowDim& w) {
  if (role == Spatial::kWindow || role == Spatial::kLhsOnly) return;
  w.size = role == Spatial::kBatch ? lhs : rhs;
  if (role == Spatial::kRhsOnly) w.pad_low = w.pad_high = rhs - 1;
  if (role != Spatial::kBatch) return;
  w.base_dilation = lhs;
  w.stride = std::max<int64_t>(1, lhs - 1);
}

}  // namespace

absl::Status SpmdVisitor::Dot(const Instruction& i) {
  if (!cuts_[0].IsTiled() && !cuts_[0].IsReplicated()) return Default(i);
  const DotAttrs& dot = i.attr<DotAttrs>();
  if (i.operand_count() != 2) return Default(i);
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape();
  ProductDimGroups dims;
  int64_t out = 0;
  for (size_t k = 0; k < dot.lhs_batch_dims.size(); ++k)
    dims.batch.push_back({dot.lhs_batch_dims[k], dot.rhs_batch_dims[k], out++});
  for (size_t k = 0; k < dot.lhs_contracting_dims.size(); ++k)
    dims.contracting.push_back({dot.lhs_contracting_dims[k], dot.rhs_contracting_dims[k], -1});
  for (int64_t d = 0; d < lhs.rank(); ++d)
    if (!absl::c_linear_search(dot.lhs_batch_dims, d) &&
        !absl::c_linear_search(dot.lhs_contracting_dims, d))
      dims.lhs_only.push_back({d, -1, out++});
  for (int64_t d = 0; d < rhs.rank(); ++d)
    if (!absl::c_linear_search(dot.rhs_batch_dims, d) &&
        !absl::c_linear_search(dot.rhs_contracting_dims, d))
      dims.rhs_only.push_back({-1, d, out++});
  const auto make = [&, dims](Instruction* a, Instruction* b) {
    Shape local = i.shape();
    for (const ProductDimNumbers& dim : dims.All())
      if (dim.out >= 0)
        local.dims[dim.out] = dim.lhs >= 0 ? a->shape().dims[dim.lhs] : b->shape().dims[dim.rhs];
    return Clone(i, local, {a, b});
  };
  Shard a = Of(i.operand(0)), b = Of(i.operand(1));
  if (!a.cut().IsTiled()) a = sharder_.Replicated(a);
  if (!b.cut().IsTiled()) b = sharder_.Replicated(b);
  Set(i, PartitionProduct(sharder_, dims, make, nullptr, a, b, i.shape(), CutOfResult()));
  return absl::OkStatus();
}

namespace {

// One convolution, whole or the part of a group of partitions.
class ConvolutionWriter {
 public:
  ConvolutionWriter(const Instruction& i, Sharder& sharder)
      : i_(i),
        conv_(i.attr<ConvolutionAttrs>()),
        at_(conv_.dim_labels),
        of_(RolesOf(i)),
        sharder_(sharder),
        writer_(sharder.writer()) {}

  const ProductDimGroups& dims() const { return of_.dims; }

  // Of parts that need no other rows of each other.
  Instruction* Whole(Instruction* a, Instruction* b) {
    Shape local = i_.shape();
    for (const ProductDimNumbers& dim : of_.dims.All())
      if (dim.out >= 0)
        local.dims[dim.out] = dim.rhs >= 0 && (dim.lhs < 0 || dim.out == at_.output_feature)
                                  ? b->shape().dims[dim.rhs]
                                  : a->shape().dims[dim.lhs];
    return Write(local, a, b, WindowOf(a->shape(), b->shape()));
  }

  // Along spatial dimensions that are windows: of neighbours' rows too.
  std::optional<Shard> ByRows(const Shard& a, const Shard& b, const Shape& out, const Cut& wanted) {
    if (TilesAlong(wanted, of_.windows, ProductSide::kOut) > 1) return ByWindows(a, b, out, wanted);
    return ByPartialSums(a, b, out);
  }

 private:
  // The windows, with those of dimensions that are no windows as long as the parts are.
  Window WindowOf(const Shape& a, const Shape& b) const {
    Window window = conv_.window;
    for (size_t k = 0; k < window.size(); ++k)
      Shrink(of_.roles[k], a.dims[at_.input_spatial[k]], b.dims[at_.kernel_spatial[k]], window[k]);
    return window;
  }

  Instruction* Write(const Shape& shape, Instruction* a, Instruction* b, Window window) {
    Instruction* made = writer_.w().rewriter().Clone(&i_, shape, {a, b});
    auto& attrs = made->mutable_attr<ConvolutionAttrs>();
    attrs.window = std::move(window);
    const int64_t features = i_.operand(1)->shape().dims[at_.kernel_output_feature];
    const int64_t own = b->shape().dims[at_.kernel_output_feature];
    for (int64_t* groups : {&attrs.feature_group_count, &attrs.batch_group_count})
      if (*groups != 1 && own != features) *groups = *groups * own / features;
    return made;
  }

  // Each partition computes its windows on its own rows and those of its neighbours.
  std::optional<Shard> ByWindows(const Shard& a, const Shard& b, const Shape& out,
                                 const Cut& wanted) {
    const int64_t sums = TilesAlong(a.cut(), of_.dims.contracting, ProductSide::kLhs);
    if (TilesAlong(wanted, of_.dims.rhs_only, ProductSide::kOut) != 1 ||
        TilesAlong(wanted, of_.dims.batch, ProductSide::kOut) != 1 ||
        (sums > 1 && sums == TilesAlong(b.cut(), of_.dims.contracting, ProductSide::kRhs)))
      return std::nullopt;
    DimVector order(a.whole.rank());
    order[at_.input_batch] = at_.output_batch;
    order[at_.input_feature] = at_.output_feature;
    Window window(a.whole.rank());
    const Window whole_window = WindowOf(a.whole, b.whole);
    for (size_t k = 0; k < of_.roles.size(); ++k) {
      order[at_.input_spatial[k]] = at_.output_spatial[k];
      window[at_.input_spatial[k]] = whole_window[k];
      if (of_.roles[k] != Spatial::kWindow && wanted.Dim(at_.output_spatial[k]) != 1)
        return std::nullopt;
    }
    Instruction* kernel = sharder_.Whole(b);
    const auto windowed =
        sharder_.AsWindowed(a, window, Transposed(wanted, order), writer_.Zero(a.whole.type));
    if (!windowed) return std::nullopt;
    const Shape part = ShardOf(out, wanted);
    Shape local = part;
    Window own = whole_window;
    for (size_t k = 0; k < of_.roles.size(); ++k) {
      const WindowDim& w = own[k] = windowed->window[at_.input_spatial[k]];
      const int64_t rows = windowed->value->shape().dims[at_.input_spatial[k]];
      const int64_t full = 1 + (rows - 1) * w.base_dilation + w.pad_low + w.pad_high;
      const int64_t reach = 1 + (w.size - 1) * w.window_dilation;
      if (full < reach) return std::nullopt;
      local.dims[at_.output_spatial[k]] = (full - reach) / w.stride + 1;
    }
    if (windowed->offset.empty() && local.dims != part.dims) return std::nullopt;
    Instruction* made = Write(local, windowed->value, kernel, std::move(own));
    if (!windowed->offset.empty()) {
      std::vector<Instruction*> starts(out.rank(), writer_.S32(0));
      for (int64_t d = 0; d < a.whole.rank(); ++d) starts[order[d]] = windowed->offset[d];
      made = writer_.w().DynamicSlice(made, starts, part.dims);
    }
    return sharder_.Array(made, out, wanted, a.scope);
  }

  // The array's rows along the only dimension that is cut, of all devices, if that is a window.
  std::optional<size_t> CutWindow(const Shard& shard, ProductSide side) const {
    const auto cut = OnlyCutDim(shard.cut());
    if (!cut || shard.cut().tiles[*cut] != shard.scope->size()) return std::nullopt;
    const auto& spatial = side == ProductSide::kLhs ? at_.input_spatial : at_.kernel_spatial;
    for (size_t k = 0; k < spatial.size(); ++k)
      if (spatial[k] == *cut && of_.roles[k] == Spatial::kWindow) return k;
    return std::nullopt;
  }

  // A kernel as long as the input, as that of a gradient: each partition has some of its rows, and
  // the rows of the input that these meet; what they give is added up.
  std::optional<Shard> ByPartialSums(const Shard& a, const Shard& b, const Shape& out) {
    const auto in_lhs = CutWindow(a, ProductSide::kLhs), in_rhs = CutWindow(b, ProductSide::kRhs);
    if (!a.cut().IsTiled() || !b.cut().IsTiled() || (!in_lhs && !in_rhs)) return std::nullopt;
    const size_t k = in_lhs ? *in_lhs : *in_rhs;
    const WindowDim& w = conv_.window[k];
    if (w.reversal || w.base_dilation != 1) return std::nullopt;
    const Cut& main = in_lhs ? a.cut() : b.cut();
    const int64_t tiles = a.scope->size(), d = at_.input_spatial[k], e = at_.kernel_spatial[k];
    const auto along = [&](int64_t rank, int64_t dim) {
      DimVector all(rank, 1);
      all[dim] = tiles;
      return Cut::Tiled(std::move(all), main.devices, false);
    };
    const Cut lhs_cut = along(a.whole.rank(), d), rhs_cut = along(b.whole.rank(), e);
    Instruction* zero = writer_.Zero(a.whole.type);
    Shard left = sharder_.To(a, lhs_cut), right = sharder_.To(b, rhs_cut);
    left.value = sharder_.PadWith(left, zero);
    right.value = sharder_.PadWith(right, writer_.Zero(b.whole.type));
    const int64_t rows = right.value->shape().dims[e];
    Window window(a.whole.rank());
    WindowDim& met = window[d];
    met.size =
        (out.dims[at_.output_spatial[k]] - 1) * w.stride + (rows - 1) * w.window_dilation + 1;
    met.stride = rows * w.window_dilation;
    met.pad_low = w.pad_low;
    met.pad_high = (tiles - 1) * met.stride + met.size - a.whole.dims[d] - w.pad_low;
    const auto windowed = sharder_.AsWindowed(left, window, lhs_cut, zero, /*mask=*/false);
    if (!windowed || !windowed->offset.empty()) return std::nullopt;
    Instruction* x = sharder_.PadLocally(*windowed, zero);
    if (x->shape().dims[d] != met.size) return std::nullopt;
    Window own = WindowOf(a.whole, b.whole);
    own[k].size = rows;
    own[k].pad_low = own[k].pad_high = 0;
    Instruction* made =
        Write(i_.shape().dims == out.dims ? i_.shape() : RowMajor(out.type, out.dims), x,
              right.value, std::move(own));
    Instruction* sum =
        writer_.AllReduceAlong(made, lhs_cut, {d}, writer_.Add(made->shape().type), a.scope);
    return sharder_.Array(sum, out, Cut(), a.scope);
  }

  const Instruction& i_;
  const ConvolutionAttrs& conv_;
  const ConvDims& at_;
  const ConvolutionRoles of_;
  Sharder& sharder_;
  ShardWriter& writer_;
};

}  // namespace

absl::Status SpmdVisitor::Convolution(const Instruction& i) {
  const ConvolutionAttrs& conv = i.attr<ConvolutionAttrs>();
  if (!cuts_[0].IsTiled() && !cuts_[0].IsReplicated()) return Default(i);
  if (conv.feature_group_count != 1 || conv.batch_group_count != 1) return GroupedConvolution(i);
  return ConvolutionByProduct(i);
}

absl::Status SpmdVisitor::ConvolutionByProduct(const Instruction& i) {
  Shard a = Of(i.operand(0)), b = Of(i.operand(1));
  if (!a.cut().IsTiled()) a = sharder_.Replicated(a);
  if (!b.cut().IsTiled()) b = sharder_.Replicated(b);
  ConvolutionWriter writer(i, sharder_);
  const auto make = [&](Instruction* x, Instruction* y) { return writer.Whole(x, y); };
  const auto by_rows = [&](const Shard& x, const Shard& y, const Shape& out, const Cut& wanted) {
    return writer.ByRows(x, y, out, wanted);
  };
  Set(i, PartitionProduct(sharder_, writer.dims(), make, by_rows, a, b, i.shape(), CutOfResult()));
  return absl::OkStatus();
}

// Groups of features, or of a batch, that lie on partitions of their own.
absl::Status SpmdVisitor::GroupedConvolution(const Instruction& i) {
  const ConvolutionAttrs& conv = i.attr<ConvolutionAttrs>();
  const ConvDims& at = conv.dim_labels;
  const bool by_feature = conv.feature_group_count != 1;
  if (by_feature && conv.batch_group_count != 1) return Default(i);
  const int64_t count = by_feature ? conv.feature_group_count : conv.batch_group_count;
  const int64_t in_lhs = by_feature ? at.input_feature : at.input_batch;
  const int64_t in_rhs = at.kernel_output_feature, in_out = at.output_feature;
  Shard a = Of(i.operand(0)), b = Of(i.operand(1));
  if (!a.cut().IsTiled()) a = sharder_.Replicated(a);
  if (!b.cut().IsTiled()) b = sharder_.Replicated(b);
  const Cut& wanted = CutOfResult();
  const int64_t n = scope_->size();
  // Cut along other dimensions too, and everywhere into the same groups: these are a batch.
  const int64_t tiles = wanted.Dim(in_out);
  const auto has_more = [](const Cut& cut, int64_t d) {
    return cut.Dim(d) != 1 && cut.NumTiles() != cut.Dim(d);
  };
  const auto fits = [&](const Cut& cut, int64_t d) {
    return cut.Dim(d) == 1 || cut.Dim(d) == tiles;
  };
  if ((has_more(a.cut(), in_lhs) || has_more(b.cut(), in_rhs) || has_more(wanted, in_out)) &&
      fits(a.cut(), in_lhs) && fits(b.cut(), in_rhs) && count % tiles == 0 &&
      i.shape().dims[in_out] % tiles == 0)
    return ConvolutionByProduct(i);
  const auto aligned = [&](const Cut& cut, int64_t from, int64_t rank,
                           int64_t to) -> std::optional<Cut> {
    if (!cut.IsTiled() || cut.Dim(from) == 1 || count % cut.Dim(from) != 0) return std::nullopt;
    const DimVector along = {from};
    const Grouped grouped = GroupBy(cut, along);
    const DimVector there = {to};
    return FromGroups(grouped.groups, there, grouped.sizes, Cut(), rank);
  };
  const int64_t lhs_rank = a.whole.rank(), rhs_rank = b.whole.rank(), rank = i.shape().rank();
  // The finest of the three.
  std::optional<Cut> out;
  for (const auto& cut :
       {aligned(a.cut(), in_lhs, rank, in_out), aligned(b.cut(), in_rhs, rank, in_out),
        aligned(wanted, in_out, rank, in_out)})
    if (cut && (!out || cut->Dim(in_out) > out->Dim(in_out))) out = cut;
  if (!out || out->Dim(in_out) * out->Copies() != n) return Default(i);
  const int64_t parts = out->Dim(in_out);
  const Shape &lhs = a.whole, &rhs = b.whole;
  if (lhs.dims[in_lhs] % parts != 0 || rhs.dims[in_rhs] % parts != 0 ||
      i.shape().dims[in_out] % parts != 0)
    return Default(i);
  Instruction* left = sharder_.To(a, *aligned(*out, in_out, lhs_rank, in_lhs)).value;
  Instruction* right = sharder_.To(b, *aligned(*out, in_out, rhs_rank, in_rhs)).value;
  Instruction* made = Clone(i, ShardOf(i.shape(), *out), {left, right});
  auto& local = made->mutable_attr<ConvolutionAttrs>();
  (by_feature ? local.feature_group_count : local.batch_group_count) = count / parts;
  Set(i, Array(made, i.shape(), *out));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
