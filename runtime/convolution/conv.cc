// Convolutions as matrix products without a copy (im2col) of the input.
//
// The element of the input that output place o and window place w meet is
//   o * window_stride + w * rhs_dilation - pad_low
// so with strides that overlap, the input is a matrix of places by (window, feature) whose index
// maps the matrix product follows (runtime/dot). What does not fit that form is copied into it:
// - reversed windows: negative strides of the kernel (Unreverse);
// - dilated input (gradients of strided convolutions): one plain convolution for each remainder of
// the output place, over every lhs_dilation-th window place (RunPhases);
// - padding: a padded copy of the input (CopyPadded), linear in its size. Depthwise convolutions
// have kernels of their own, which need no copy (depthwise.cc), and so have 3 x 3 windows over many
// features (winograd.cc).
#include "runtime/convolution/conv.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/context.h"
#include "runtime/convolution/depthwise_internal.h"
#include "runtime/convolution/winograd_internal.h"
#include "runtime/dot/dot.h"
#include "runtime/dot/finish_internal.h"
#include "runtime/element.h"
#include "runtime/movement/memory.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

// A convolution whose windows run forwards: `lhs`, `rhs` and `out` point at the elements with index
// 0, strides may be negative.
struct Conv {
  HlokitConvDesc desc;
  const char* lhs;
  const char* rhs;
  char* out;
  Finish* finish;  // null: none
};

int64_t FloorMod(int64_t a, int64_t b) { return (a % b + b) % b; }

// Places of the padded, dilated input that windows touch.
int64_t Reach(const HlokitConvDim& d) {
  if (d.out_size == 0 || d.rhs_size == 0) return 0;
  return (d.out_size - 1) * d.window_stride + (d.rhs_size - 1) * d.rhs_dilation + 1;
}

bool ReadsPadding(const HlokitConvDim& d) {
  return d.lhs_dilation != 1 || d.pad_low > 0 || Reach(d) - d.pad_low > d.lhs_size;
}

bool CannotSum(const HlokitConvDesc& desc) {
  return std::any_of(desc.dims, desc.dims + desc.spatial_rank,
                     [](const HlokitConvDim& d) { return Reach(d) == 0; });
}

void Unreverse(Conv& conv) {
  const int64_t bytes = ElementBytes(conv.desc.rhs_type);
  for (int64_t i = 0; i < conv.desc.spatial_rank; ++i) {
    HlokitConvDim& d = conv.desc.dims[i];
    if (!d.reversed) continue;
    conv.rhs += (d.rhs_size - 1) * d.rhs_stride * bytes;
    d.rhs_stride = -d.rhs_stride;
    d.reversed = 0;
  }
}

void RunPadded(void* ctx, Conv conv);

// A dilated input meets, at each output place, only every lhs_dilation-th place of the window: one
// plain convolution for each remainder of the output place.
void RunPhases(void* ctx, const Conv& conv, int64_t dim) {
  while (dim < conv.desc.spatial_rank) {
    const HlokitConvDim& d = conv.desc.dims[dim];
    if (d.lhs_dilation > 1 && d.window_stride == 1 && d.rhs_dilation == 1) break;
    ++dim;
  }
  if (dim == conv.desc.spatial_rank) return RunPadded(ctx, conv);
  const HlokitConvDim whole = conv.desc.dims[dim];
  const int64_t step = whole.lhs_dilation;
  for (int64_t phase = 0; phase < std::min(step, whole.out_size); ++phase) {
    Conv part = conv;
    part.finish = nullptr;  // of phases together
    HlokitConvDim& d = part.desc.dims[dim];
    const int64_t first =
        FloorMod(whole.pad_low - phase, step);  // window place that meets an input element
    part.rhs += first * d.rhs_stride * ElementBytes(conv.desc.rhs_type);
    part.out += phase * d.out_stride * ElementBytes(conv.desc.out_type);
    d.rhs_size = first < d.rhs_size ? (d.rhs_size - first - 1) / step + 1 : 0;
    d.out_size = (d.out_size - phase - 1) / step + 1;
    d.rhs_stride *= step;
    d.out_stride *= step;
    d.pad_low = (whole.pad_low - phase - first) / step;
    d.lhs_dilation = 1;
    RunPhases(ctx, part, dim + 1);
  }
}

// Images whose pixels of one feature lie together are products of their own: only then are rows of
// such a product neighbours in memory.
bool PixelsTogether(const HlokitConvDesc& c) {
  return c.spatial_rank > 0 && c.dims[c.spatial_rank - 1].out_stride == 1 &&
         c.out_feature_stride > 1;
}

HlokitDotDesc AsDot(const HlokitConvDesc& c) {
  const bool each_image = PixelsTogether(c);
  HlokitDotDesc dot = {c.lhs_type,         c.rhs_type, c.out_type,         2,
                       1 + c.spatial_rank, 1,          1 + c.spatial_rank, {}};
  if (each_image) {
    ++dot.batch_rank;
    --dot.row_rank;
  }
  HlokitDotDim* next = dot.dims;
  const int64_t in = c.in_features / c.feature_groups, batch = c.batch / c.batch_groups;
  const int64_t out = c.out_features / (c.feature_groups * c.batch_groups);
  *next++ = {c.feature_groups, in * c.lhs_feature_stride, out * c.rhs_out_stride,
             out * c.out_feature_stride};
  *next++ = {c.batch_groups, batch * c.lhs_batch_stride, out * c.rhs_out_stride,
             out * c.out_feature_stride};
  // The last batch dimension, or the first of the rows.
  *next++ = {batch, c.lhs_batch_stride, 0, c.out_batch_stride};
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    const HlokitConvDim& d = c.dims[i];
    *next++ = {d.out_size, d.window_stride * d.lhs_stride, 0, d.out_stride};
  }
  *next++ = {out, 0, c.rhs_out_stride, c.out_feature_stride};
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    const HlokitConvDim& d = c.dims[i];
    *next++ = {d.rhs_size, d.rhs_dilation * d.lhs_stride, d.rhs_stride, 0};
  }
  *next++ = {in, c.lhs_feature_stride, c.rhs_in_stride, 0};
  return dot;
}

// An input without padding: every window lies inside it.
void RunInside(void* ctx, Conv conv) {
  const int64_t bytes = ElementBytes(conv.desc.lhs_type);
  for (int64_t i = 0; i < conv.desc.spatial_rank; ++i) {
    HlokitConvDim& d = conv.desc.dims[i];
    conv.lhs -= d.pad_low * d.lhs_stride * bytes;
    d.pad_low = 0;
  }
  if (RunDepthwise(ctx, conv.desc, conv.lhs, conv.rhs, conv.out)) return;
  const HlokitDotDesc dot = AsDot(conv.desc);
  RunDot(ctx, dot, conv.lhs, conv.rhs, conv.out, conv.finish);
}

// Dense strides for a padded copy that keeps the order of the input's dimensions in memory; returns
// its elements.
int64_t LayOutCopy(const HlokitConvDesc& from, HlokitConvDesc& to) {
  struct Dim {
    int64_t size, old_stride, *stride;
  };
  std::vector<Dim> order = {{from.batch, from.lhs_batch_stride, &to.lhs_batch_stride},
                            {from.in_features, from.lhs_feature_stride, &to.lhs_feature_stride}};
  for (int64_t i = 0; i < from.spatial_rank; ++i) {
    order.push_back({Reach(from.dims[i]), from.dims[i].lhs_stride, &to.dims[i].lhs_stride});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Dim& a, const Dim& b) { return a.old_stride < b.old_stride; });
  int64_t elements = 1;
  for (const Dim& d : order) {
    *d.stride = elements;
    elements *= d.size;
  }
  return elements;
}

// Copies the part of the input that windows touch into zeros of the padded size.
void CopyPadded(void* ctx, const HlokitConvDesc& from, const HlokitConvDesc& to, const char* lhs,
                char* padded) {
  const int64_t bytes = ElementBytes(from.lhs_type);
  HlokitCopyDesc copy = {bytes, 2 + from.spatial_rank, {}};
  copy.dims[0] = {from.batch, from.lhs_batch_stride, to.lhs_batch_stride};
  copy.dims[1] = {from.in_features, from.lhs_feature_stride, to.lhs_feature_stride};
  for (int64_t i = 0; i < from.spatial_rank; ++i) {
    const HlokitConvDim& d = from.dims[i];
    const int64_t step = d.lhs_dilation;
    // Input element e lands on place e * step + pad_low, which must lie in [0, reach).
    const int64_t first = d.pad_low >= 0 ? 0 : (-d.pad_low + step - 1) / step;
    const int64_t last_place = Reach(d) - 1 - d.pad_low;
    const int64_t end = last_place < 0 ? 0 : std::min(d.lhs_size, last_place / step + 1);
    copy.dims[2 + i] = {std::max<int64_t>(end - first, 0), d.lhs_stride,
                        step * to.dims[i].lhs_stride};
    lhs += first * d.lhs_stride * bytes;
    padded += (first * step + d.pad_low) * to.dims[i].lhs_stride * bytes;
  }
  hlokit_copy_strided(ctx, &copy, lhs, padded);
}

void RunPadded(void* ctx, Conv conv) {
  const HlokitConvDim* dims = conv.desc.dims;
  const bool padded = std::any_of(dims, dims + conv.desc.spatial_rank, ReadsPadding);
  if (CannotSum(conv.desc)) return RunInside(ctx, conv);
  if (RunDepthwiseLines(ctx, conv.desc, conv.lhs, conv.rhs, conv.out, conv.finish)) return;
  if (RunWinograd(ctx, conv.desc, conv.lhs, conv.rhs, conv.out, conv.finish)) return;
  if (!padded) return RunInside(ctx, conv);
  HlokitConvDesc inside = conv.desc;
  const int64_t elements = LayOutCopy(conv.desc, inside);
  for (int64_t i = 0; i < inside.spatial_rank; ++i) {
    HlokitConvDim& d = inside.dims[i];
    d.lhs_size = Reach(d);
    d.lhs_dilation = 1;
    d.pad_low = 0;
  }
  const int64_t bytes = elements * ElementBytes(inside.lhs_type);
  Scratch scratch(bytes);
  if (scratch.data() == nullptr) return hlokit_set_error(ctx, "out of memory in a convolution");
  hlokit_fill_zero(ctx, scratch.data(), bytes);
  CopyPadded(ctx, conv.desc, inside, conv.lhs, scratch.as<char>());
  RunInside(ctx, {inside, scratch.as<char>(), conv.rhs, conv.out, conv.finish});
}

void RunConv(void* ctx, const HlokitConvDesc& desc, const void* lhs, const void* rhs, void* out,
             Finish* finish) {
  if (desc.spatial_rank > HLOKIT_MAX_CONV_DIMS) {
    return hlokit_set_error(ctx, "a convolution has too many dimensions");
  }
  if (out == nullptr) return;  // no elements
  Conv conv{desc, BytesOf(lhs), BytesOf(rhs), static_cast<char*>(out), finish};
  Unreverse(conv);
  RunPhases(ctx, conv, 0);
}

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_conv(void* ctx, const HlokitConvDesc* desc, const void* lhs, const void* rhs,
                            void* out) {
  hlokit::RunConv(ctx, *desc, lhs, rhs, out, nullptr);
}

extern "C" void hlokit_finished_conv(void* ctx, const HlokitConvDesc* desc,
                                     const HlokitFinishDesc* finish, const void* lhs,
                                     const void* rhs, const void* bias, const void* residual,
                                     void* out) {
  hlokit::Finish how = hlokit::FinishOf(*finish, bias, residual, out);
  hlokit::RunConv(ctx, *desc, lhs, rhs, out, &how);
  hlokit::FinishAll(ctx, *finish, how, out);
}

extern "C" void hlokit_conv_then(void* ctx, const HlokitConvDesc* desc,
                                 const HlokitFinishDesc* finish, const void* lhs, const void* rhs,
                                 HlokitFinishFunction function, void* const* arrays, void* out) {
  hlokit::Finish how = hlokit::FinishOf(function, arrays);
  hlokit::RunConv(ctx, *desc, lhs, rhs, out, &how);
  hlokit::FinishAll(ctx, *finish, how, out);
}
// SPDX-License-Identifier: Apache-2.0
