// Winograd's F(2 x 2, 3 x 3): 2 x 2 neighbouring results of a 3 x 3 window from 16 multiplications
// instead of 36. In one dimension, two results of three weights g and four inputs d are
//   y0 = m0 + m1 + m2     m0 = (d0 - d2) g0    m1 = (d1 + d2) (g0 + g1 + g2) / 2
//   y1 = m1 - m2 - m3     m3 = (d1 - d3) g2    m2 = (d2 - d1) (g0 - g1 + g2) / 2
// and in two dimensions the same is applied to columns and rows. With features, each of the 16
// positions is a matrix product of patches by input features with input by output features.
//
// Patches are worked on in blocks, whose transformed inputs and products stay in the second-level
// cache; a block reads all transformed weights once, panel by panel, and prefetches the panel that
// comes next. Blocks are shared among threads; no result depends on where one ends. Weights that
// no run changes are transformed once for all (frozen_arrays.h).
//
// Cost: 4/9 of the direct form's multiply-adds, 56 additions for each patch and feature, and 16/9
// of the weights' memory: too much where few patches meet them. The error is up to three times the
// direct form's, but relative to the largest input of a patch: an input that is much larger than
// the others, or not finite, spoils results whose windows do not see it. Then (HasOutliers, and
// where a result is not finite) the direct form is computed after all.
#include "runtime/convolution/winograd_internal.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/context.h"
#include "runtime/cpu_features.h"
#include "runtime/dot/frozen_arrays.h"
#include "runtime/dot/gemm_internal.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kPositions = 16;
constexpr int64_t kPatch = 4, kResult = 2;  // places along an edge
constexpr int64_t kResults = kResult * kResult;
constexpr int64_t kLeastPatches = 32;        // that repay reading the transformed weights
constexpr int64_t kLeastFeatures = 32;       // of input and output
constexpr int64_t kBlockFloats = 160 << 10;  // transformed inputs and products of a block
constexpr int64_t kPitchPad = 16;            // keeps rows off the same lines of the cache
constexpr int64_t kLineFloats = 16;
constexpr float kOutlier = 4096;  // times the mean magnitude: would cost others 12 bits

const WinogradKernels& Transformations() { return HLOKIT_OF_BEST_ISA(kWinograd); }

class Winograd {
 public:
  Winograd(void* ctx, const HlokitConvDesc& desc, const char* lhs, const char* rhs, char* out,
           const Finish* finish)
      : ctx_(ctx),
        c_(desc),
        lhs_(reinterpret_cast<const float*>(lhs)),
        rhs_(reinterpret_cast<const float*>(rhs)),
        out_(reinterpret_cast<float*>(out)),
        finish_(finish),
        in_(desc.in_features),
        features_(desc.out_features),
        width_(gemm_.vectors[0] * gemm_.lanes),
        panels_(features_ / width_),
        down_(CeilDiv(desc.dims[0].out_size, kResult)),
        across_(CeilDiv(desc.dims[1].out_size, kResult)),
        patches_(desc.batch * down_ * across_) {}

  bool Fits() const {
    for (int i = 0; i < 2; ++i) {
      const HlokitConvDim& d = c_.dims[i];
      if (d.lhs_size < 1 || d.rhs_size != 3 || d.window_stride != 1 || d.lhs_dilation != 1 ||
          d.rhs_dilation != 1)
        return false;
    }
    if (in_ < kLeastFeatures || features_ < kLeastFeatures || in_ % gemm_.lanes != 0 ||
        features_ % width_ != 0 || patches_ < kLeastPatches)
      return false;
    // Patches reach over the edges of odd pictures.
    const int64_t places = c_.batch * c_.dims[0].out_size * c_.dims[1].out_size;
    return 24 * patches_ <= 9 * places;
  }

  bool Run() {
    if (HasOutliers()) return false;
    const int64_t size = kPositions * in_ * features_;
    Scratch scratch(FindFrozen(size) ? 0 : size * sizeof(float));
    if (scratch.data() == nullptr && frozen_ == nullptr) return false;
    if (frozen_ == nullptr) TransformWindows(scratch.as<float>());
    const float* windows =
        frozen_ != nullptr ? reinterpret_cast<const float*>(frozen_.get()) : scratch.as<float>();
    // As many for each thread.
    const int64_t threads = hlokit_num_threads(ctx_);
    const int64_t of_one = kPositions * (in_ + features_ + 2 * kPitchPad);
    const int64_t most = std::max<int64_t>(kBlockFloats / of_one, 2 * gemm_.max_rows[0]);
    const int64_t blocks = CeilDiv(CeilDiv(patches_, most), threads) * threads;
    std::atomic<bool> finite = true;
    ParallelFor(ctx_, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && finite.load(std::memory_order_relaxed); ++i)
        if (!RunBlock(i * patches_ / blocks, (i + 1) * patches_ / blocks, windows)) finite = false;
    });
    return finite;
  }

 private:
  // Whether an input is much larger than most, or not finite.
  bool HasOutliers() const {
    const HlokitConvDim &rows = c_.dims[0], &columns = c_.dims[1];
    const int64_t lines = c_.batch * rows.lhs_size;
    std::vector<float> largest(lines, 0), sums(lines, 0);
    ParallelFor(ctx_, lines, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* line =
            lhs_ + i / rows.lhs_size * c_.lhs_batch_stride + i % rows.lhs_size * rows.lhs_stride;
        for (int64_t x = 0; x < columns.lhs_size; ++x)
          Transformations().magnitude(line + x * columns.lhs_stride, in_, &largest[i], &sums[i]);
      }
    });
    const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
    const double count = static_cast<double>(lines) * columns.lhs_size * in_;
    return !(*std::max_element(largest.begin(), largest.end()) <= kOutlier * sum / count);
  }

  // Sets frozen_ to the transformed weights, if they are of an array that no run changes.
  bool FindFrozen(int64_t size) {
    const auto* run = static_cast<const HlokitRunContext*>(ctx_);
    if (run == nullptr || run->frozen == nullptr) return false;
    const auto& arrays = *static_cast<const FrozenArrays*>(run->frozen);
    PackedKey key = {.type = c_.dims[0].rhs_stride,
                     .cols = features_,
                     .col_stride = c_.rhs_out_stride,
                     .depth = in_,
                     .depth_stride = c_.rhs_in_stride,
                     .width = width_,
                     .slab_depth = c_.dims[1].rhs_stride,
                     .kernels = &Transformations()};
    if (!arrays.Locate(rhs_, &key)) return false;
    const int64_t bytes = size * int64_t{sizeof(float)};
    PackedForms::Found found = arrays.forms().Find(key, bytes);
    if (found.fill != nullptr) {
      TransformWindows(reinterpret_cast<float*>(found.fill.get()));
      if (hlokit_cancelled(ctx_)) {  // loops may have been left out
        arrays.forms().Abandon(key);
        return false;
      }
      arrays.forms().Add(key, found.fill, bytes);
      found.packed = std::move(found.fill);
    }
    frozen_ = std::move(found.packed);
    return frozen_ != nullptr;
  }

  // Position by position, each as panels of `width_` columns.
  void TransformWindows(float* to) const {
    std::array<int64_t, 9> taps;
    for (int64_t i = 0; i < 9; ++i)
      taps[i] = i / 3 * c_.dims[0].rhs_stride + i % 3 * c_.dims[1].rhs_stride;
    const int64_t chunks = CeilDiv(in_, kLineFloats);
    ParallelFor(ctx_, panels_ * chunks, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t panel = i / chunks, first = i % chunks * kLineFloats;
        for (int64_t k = first; k < std::min(first + kLineFloats, in_); ++k)
          Transformations().window(rhs_ + k * c_.rhs_in_stride + panel * width_ * c_.rhs_out_stride,
                                   taps.data(), c_.rhs_out_stride, width_, in_ * features_,
                                   to + (panel * in_ + k) * width_);
      }
    });
  }

  // Patches [first, end); false if a result is not finite.
  bool RunBlock(int64_t first, int64_t end, const float* windows) const {
    const int64_t count = end - first, in_pitch = in_ + kPitchPad;
    const int64_t out_pitch = features_ + kPitchPad;
    const int64_t spare = std::max(in_, features_);
    Scratch scratch((kPositions * count * (in_pitch + out_pitch) + spare) * sizeof(float));
    if (scratch.data() == nullptr) return false;
    float* unused = scratch.as<float>();  // what lies outside is zero, and where results go
    float* inputs = unused + spare;
    float* products = inputs + kPositions * count * in_pitch;
    std::fill(unused, unused + in_, 0.0f);
    for (int64_t i = 0; i < count; ++i)
      Transformations().patch(PlacesOf(first + i, unused).data(), in_, count * in_pitch,
                              inputs + i * in_pitch);
    const int64_t tiles = CeilDiv(count, gemm_.max_rows[0]), height = CeilDiv(count, tiles);
    for (int64_t n = 0; n < kPositions * panels_; ++n) {
      const int64_t position = n / panels_;
      for (int64_t m = 0; m < tiles; ++m)
        Multiply(std::min(height, count - m * height),
                 inputs + (position * count + m * height) * in_pitch, in_pitch,
                 windows + n * in_ * width_, n + 1 < kPositions * panels_ ? m : panels_ * width_,
                 products + (position * count + m * height) * out_pitch + n % panels_ * width_,
                 out_pitch);
    }
    bool finite = true;
    for (int64_t i = 0; i < count; ++i) {
      const std::array<float*, kResults> results = ResultsOf(first + i, unused);
      finite &=
          Transformations().result(products + i * out_pitch, features_, count * out_pitch,
                                   results.data(), finish_, ResidualsOf(results, unused).data());
    }
    return finite;
  }

  // One register tile of products. The `share`-th tile of a panel prefetches that share of the
  // panel after it.
  void Multiply(int64_t rows, const float* a, int64_t lda, const float* b, int64_t share, float* to,
                int64_t ldc) const {
    const int64_t panel = in_ * width_, ahead = share * in_ * kLineFloats;
    const bool fetches = ahead < panel && gemm_.fetching[0][rows] != nullptr;
    for (int64_t k = 0; k < in_; k += kGemmPartDepth) {
      const int64_t depth = std::min(kGemmPartDepth, in_ - k);
      if (fetches) {
        const auto* lines = reinterpret_cast<const char*>(b + panel + ahead + k * kLineFloats);
        gemm_.fetching[0][rows](depth, a + k, lda, b + k * width_, width_, lines,
                                kLineFloats * sizeof(float), to, ldc, k > 0);
      } else {
        gemm_.micro[0][rows](depth, a + k, lda, b + k * width_, width_, to, ldc, k > 0);
      }
    }
  }

  struct Place {
    int64_t image, y, x;  // of the first result of a patch
  };
  Place PlaceOf(int64_t patch) const {
    return {patch / (down_ * across_), patch / across_ % down_ * kResult,
            patch % across_ * kResult};
  }

  std::array<const float*, kPositions> PlacesOf(int64_t patch, const float* outside) const {
    const Place at = PlaceOf(patch);
    const HlokitConvDim &rows = c_.dims[0], &columns = c_.dims[1];
    std::array<const float*, kPositions> places;
    for (int64_t i = 0; i < kPositions; ++i) {
      const int64_t y = at.y + i / kPatch - rows.pad_low, x = at.x + i % kPatch - columns.pad_low;
      const bool inside = y >= 0 && y < rows.lhs_size && x >= 0 && x < columns.lhs_size;
      places[i] = inside ? lhs_ + at.image * c_.lhs_batch_stride + y * rows.lhs_stride +
                               x * columns.lhs_stride
                         : outside;
    }
    return places;
  }

  // What is added to results of a patch; those outside have none.
  std::array<const float*, kResults> ResidualsOf(const std::array<float*, kResults>& results,
                                                 const float* outside) const {
    std::array<const float*, kResults> residuals = {};
    for (int64_t i = 0; i < kResults; ++i)
      if (finish_ != nullptr && results[i] != outside)
        residuals[i] = ResidualAt(*finish_, results[i]);
    return residuals;
  }

  std::array<float*, kResults> ResultsOf(int64_t patch, float* outside) const {
    const Place at = PlaceOf(patch);
    const HlokitConvDim &rows = c_.dims[0], &columns = c_.dims[1];
    std::array<float*, kResults> results;
    for (int64_t i = 0; i < kResults; ++i) {
      const int64_t y = at.y + i / kResult, x = at.x + i % kResult;
      results[i] =
          y < rows.out_size && x < columns.out_size
              ? out_ + at.image * c_.out_batch_stride + y * rows.out_stride + x * columns.out_stride
              : outside;
    }
    return results;
  }

  void* ctx_;
  const GemmKernels<float>& gemm_ = BestGemmKernels().f32;
  const HlokitConvDesc& c_;
  const float *lhs_, *rhs_;
  float* out_;
  const Finish* finish_;       // null: none
  int64_t in_, features_;      // of input and output
  int64_t width_, panels_;     // of transformed weights
  int64_t down_, across_;      // patches of a picture
  int64_t patches_;            // of all pictures
  PackedForms::Bytes frozen_;  // transformed weights of an earlier run; null: none
};

bool IsPlainPicture(const HlokitConvDesc& c) {
  return c.lhs_type == HLOKIT_F32 && c.rhs_type == HLOKIT_F32 && c.out_type == HLOKIT_F32 &&
         c.spatial_rank == 2 && c.feature_groups == 1 && c.batch_groups == 1 &&
         c.lhs_feature_stride == 1 && c.out_feature_stride == 1;
}

}  // namespace

bool RunWinograd(void* ctx, const HlokitConvDesc& desc, const char* lhs, const char* rhs, char* out,
                 Finish* finish) {
  if (!IsPlainPicture(desc)) return false;
  if (finish != nullptr && finish->function != nullptr) finish = nullptr;  // of all of it, later
  Winograd conv(ctx, desc, lhs, rhs, out, finish);
  if (!conv.Fits() || !conv.Run()) return false;
  if (finish != nullptr) finish->done = true;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
