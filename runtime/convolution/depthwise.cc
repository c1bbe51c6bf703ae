// Depthwise convolutions: each feature has a window of its own, so there is no sum over features
// for a matrix product. One pass over the output places computes all features of a place together,
// a vector of features at a time: sums[f] += x[place + tap][f] * w[tap][f]. The gradient of such a
// window has the same form with batch and features exchanged.
//
// Padding costs no copy (RunDepthwiseLines): a line of output places along the last dimension is
// three runs, in whose middle every window lies inside along the line; each run has a list of the
// window's places that meet input, made once for a line. Weights of a 3 x 3 window stay in
// registers along the run, over as many lines as have the same list, whose inputs
// are read once; neighbouring places share what they load.
#include "runtime/convolution/depthwise_internal.h"

#include <algorithm>

#include "runtime/cpu_features.h"
#include "runtime/dot/index_maps_internal.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

DepthwiseRow RowKernel() { return HLOKIT_OF_BEST_ISA(kDepthwiseRow); }

// What a convolution is to the kernel: `features` side by side at each place of the result, summed
// over the window, and that over `rounds`.
struct Form {
  int64_t features = 0;  // 0: not of this kind
  StridedDim lhs_outer, out_outer;
  int64_t rounds = 1, lhs_step = 0, rhs_step = 0;
};

bool LieTogether(int64_t features, int64_t lhs_stride, const HlokitConvDesc& c) {
  return features > 1 && lhs_stride == 1 && c.rhs_out_stride == 1 && c.out_feature_stride == 1 &&
         c.out_features == features;
}

Form FormOf(const HlokitConvDesc& c) {
  if (c.lhs_type != HLOKIT_F32 || c.rhs_type != HLOKIT_F32 || c.out_type != HLOKIT_F32) return {};
  if (c.feature_groups == c.in_features && LieTogether(c.feature_groups, c.lhs_feature_stride, c))
    return {c.in_features, {c.batch, c.lhs_batch_stride}, {c.batch, c.out_batch_stride}};
  // The gradient of a window: what was the batch is summed, what were features are the batch.
  if (c.batch_groups == c.batch && c.in_features > 0 &&
      LieTogether(c.batch_groups, c.lhs_batch_stride, c))
    return {c.batch, {1, 0}, {1, 0}, c.in_features, c.lhs_feature_stride, c.rhs_in_stride};
  return {};
}

OwnedIndexMap MapOf(const HlokitConvDesc& c, StridedDim first, int64_t HlokitConvDim::*size,
                    int64_t HlokitConvDim::*stride, int64_t HlokitConvDim::*scale) {
  std::vector<StridedDim> dims = {first};
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    dims.push_back(
        {c.dims[i].*size, c.dims[i].*stride * (scale == nullptr ? 1 : c.dims[i].*scale)});
  }
  return OwnedIndexMap(dims);
}

std::vector<int64_t> Offsets(const OwnedIndexMap& map) {
  std::vector<int64_t> offsets(map.map().size);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = OffsetAt(map.map(), i);
  return offsets;
}

constexpr int64_t kMaxTaps = 128;           // of a window whose lists lie on the stack
constexpr int64_t kBlockFloats = 64 << 10;  // input of lines that are worked on together
constexpr int64_t kLinesTogether = 4;       // that a thread takes

// Window places that meet input, as offsets into both operands.
struct Taps {
  int64_t count = 0;
  int64_t lhs[kMaxTaps], rhs[kMaxTaps];
};

// Appends to each of `taps` those places of dimension `d` that meet input at output place `o`.
void Extend(const HlokitConvDim& d, int64_t o, const Taps& taps, Taps& more) {
  more.count = 0;
  for (int64_t k = 0; k < taps.count; ++k) {
    for (int64_t w = 0; w < d.rhs_size; ++w) {
      const int64_t at = o * d.window_stride + w * d.rhs_dilation - d.pad_low;
      if (at < 0 || at >= d.lhs_size) continue;
      more.lhs[more.count] = taps.lhs[k] + at * d.lhs_stride;
      more.rhs[more.count++] = taps.rhs[k] + w * d.rhs_stride;
    }
  }
}

// One line of output places along the last dimension.
class DepthwiseLines {
 public:
  DepthwiseLines(const HlokitConvDesc& desc, const float* lhs, const float* rhs, float* out,
                 const Finish* finish)
      : c_(desc),
        last_(desc.dims[desc.spatial_rank - 1]),
        lhs_(lhs),
        rhs_(rhs),
        out_(out),
        finish_(finish) {
    // The first place whose window lies inside the line, and the end of these.
    const int64_t reach = (last_.rhs_size - 1) * last_.rhs_dilation;
    const int64_t left = last_.lhs_size - 1 + last_.pad_low - reach;
    const int64_t stride = last_.window_stride;
    begin_ =
        last_.pad_low <= 0 ? 0 : std::min((last_.pad_low + stride - 1) / stride, last_.out_size);
    end_ = left < 0 ? begin_ : std::clamp(left / stride + 1, begin_, last_.out_size);
  }

  int64_t count() const {
    int64_t lines = c_.batch;
    for (int64_t i = 0; i + 1 < c_.spatial_rank; ++i) lines *= c_.dims[i].out_size;
    return lines;
  }

  // Lines [line, end), as many as go together; returns how many.
  int64_t Run(int64_t line, int64_t end) const {
    Taps lists[2];
    Taps* taps = &lists[0];
    Taps* more = &lists[1];
    taps->count = 1;
    taps->lhs[0] = taps->rhs[0] = 0;
    const int64_t lines = Together(line, end);
    const int64_t first_row = line * last_.out_size;
    const bool calls = finish_ != nullptr && finish_->function != nullptr;
    const HlokitConvDim& across = c_.dims[std::max<int64_t>(0, c_.spatial_rank - 2)];
    int64_t out = 0;
    for (int64_t i = c_.spatial_rank - 2; i >= 0; --i) {
      const HlokitConvDim& d = c_.dims[i];
      out += line % d.out_size * d.out_stride;
      Extend(d, line % d.out_size, *taps, *more);
      std::swap(taps, more);
      line /= d.out_size;
    }
    const float* lhs = lhs_ + line * c_.lhs_batch_stride;
    float* to = out_ + out + line * c_.out_batch_stride;
    for (int64_t o = 0; o < last_.out_size;) {
      const bool inside = o >= begin_ && o < end_;
      const int64_t places = inside ? end_ - o : 1;
      Extend(last_, o, *taps, *more);
      lines_({lhs, rhs_, more->lhs, more->rhs, more->count, c_.in_features, places,
              last_.window_stride * last_.lhs_stride, last_.out_stride, lines,
              across.window_stride * across.lhs_stride, across.out_stride,
              to + o * last_.out_stride, calls ? nullptr : finish_});
      o += places;
    }
    if (calls)
      finish_->function(finish_->arrays, first_row, lines * last_.out_size, 0, c_.out_features);
    return lines;
  }

  // Lines from `line` on whose windows lie inside along the dimension before the last: their taps
  // are the same. Their inputs stay in the second-level cache over all features.
  int64_t Together(int64_t line, int64_t end) const {
    if (c_.spatial_rank < 2) return 1;
    const HlokitConvDim& d = c_.dims[c_.spatial_rank - 2];
    const int64_t first = line % d.out_size, line_floats = last_.lhs_size * c_.in_features;
    const int64_t most = std::min(
        {end - line, d.out_size - first, std::max<int64_t>(1, kBlockFloats / line_floats)});
    const auto inside = [&](int64_t o) {
      const int64_t at = o * d.window_stride - d.pad_low;
      return at >= 0 && at + (d.rhs_size - 1) * d.rhs_dilation < d.lhs_size;
    };
    int64_t count = 0;
    while (count < most && inside(first + count)) ++count;
    return std::max<int64_t>(count, 1);
  }

 private:
  const HlokitConvDesc& c_;
  const HlokitConvDim& last_;
  const float *lhs_, *rhs_;
  float* out_;
  const Finish* finish_;  // null: none
  int64_t begin_, end_;
  const DepthwiseLinesKernel lines_ = HLOKIT_OF_BEST_ISA(kDepthwiseLines);
};

}  // namespace

bool RunDepthwiseLines(void* ctx, const HlokitConvDesc& c, const char* lhs, const char* rhs,
                       char* out, Finish* finish) {
  const Form form = FormOf(c);
  if (form.features == 0 || c.batch_groups > 1 || c.spatial_rank == 0) return false;
  int64_t taps = 1;
  for (int64_t i = 0; i < c.spatial_rank; ++i) {
    if (c.dims[i].lhs_dilation != 1 || c.dims[i].rhs_size > kMaxTaps) return false;
    taps *= c.dims[i].rhs_size;
    if (taps > kMaxTaps) return false;
  }
  const DepthwiseLines lines(c, reinterpret_cast<const float*>(lhs),
                             reinterpret_cast<const float*>(rhs), reinterpret_cast<float*>(out),
                             finish);
  const int64_t places = c.dims[c.spatial_rank - 1].out_size;
  const int64_t work = std::max<int64_t>(1, taps * form.features * places);
  // Neighbouring lines share inputs; each thread takes as many of them.
  const int64_t threads = hlokit_num_threads(ctx), count = lines.count();
  const int64_t each = CeilDiv(count, threads * CeilDiv(count, threads * kLinesTogether));
  const int64_t grain = std::max((1 << 16) / work + 1, each);
  ParallelFor(ctx, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) i += lines.Run(i, end);
  });
  if (finish != nullptr) finish->done = true;
  return true;
}

bool RunDepthwise(void* ctx, const HlokitConvDesc& c, const char* lhs, const char* rhs, char* out) {
  const Form form = FormOf(c);
  if (form.features == 0) return false;
  using Dim = HlokitConvDim;
  const OwnedIndexMap lhs_rows =
      MapOf(c, form.lhs_outer, &Dim::out_size, &Dim::lhs_stride, &Dim::window_stride);
  const OwnedIndexMap out_rows =
      MapOf(c, form.out_outer, &Dim::out_size, &Dim::out_stride, nullptr);
  const std::vector<int64_t> lhs_taps =
      Offsets(MapOf(c, {1, 0}, &Dim::rhs_size, &Dim::lhs_stride, &Dim::rhs_dilation));
  const std::vector<int64_t> rhs_taps =
      Offsets(MapOf(c, {1, 0}, &Dim::rhs_size, &Dim::rhs_stride, nullptr));
  const int64_t taps = static_cast<int64_t>(lhs_taps.size());
  const int64_t work = std::max<int64_t>(1, form.rounds * taps * form.features);
  const DepthwiseRow row = RowKernel();
  ParallelFor(ctx, out_rows.map().size, (1 << 16) / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* x = reinterpret_cast<const float*>(lhs) + OffsetAt(lhs_rows.map(), i);
      const float* w = reinterpret_cast<const float*>(rhs);
      float* sums = reinterpret_cast<float*>(out) + OffsetAt(out_rows.map(), i);
      for (int64_t r = 0; r < form.rounds; ++r, x += form.lhs_step, w += form.rhs_step)
        row(x, w, lhs_taps.data(), rhs_taps.data(), taps, form.features, r > 0, sums);
    }
  });
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
