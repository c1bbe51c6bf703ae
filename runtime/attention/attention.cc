// Attention, a block of rows at a time: scores, exponentials and sums of values while the scores
// are in the cache.
//
//   for each head: pack keys (transposed) and values into panels, as Gemm packs its right side
//     for each block of up to 14 queries:
//       scores  = block x keys       register tiles of Gemm, 14 x |keys| floats, kept in L2
//       scores  = exp(scale * scores - largest), and their sums, row by row
//       results = scores x values / sums
//
// The array of all scores (heads x queries x keys) is never written to memory: for 512 tokens and
// 12 heads it takes 12.6 MB, more than all else that attention reads. Keys that the mask hides from
// all rows of a block are left out on both ends: half of the work of a causal mask, more of a
// sliding window. That is exact only where their weights are 0 in f32 and no value is infinite or
// NaN; a block where that does not hold is computed in full. Cost: 2 rows keys (depth +
// value_depth) flops at the speed of Gemm's tiles, and about 20 instructions for 16 scores.
#include "runtime/attention/attention.h"

#include <string.h>

#include <algorithm>

#include "runtime/attention/softmax_rows.h"
#include "runtime/context.h"
#include "runtime/cpu_features.h"
#include "runtime/dot/gemm_internal.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kBlocksTogether = 8;  // of rows that share packed keys, where heads are few
constexpr double kVanishes = -104;      // e to this is 0 in f32, even as a subnormal

float FloatOf(int64_t bits) {
  const auto word = static_cast<int32_t>(bits);
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

// One head's arrays.
struct Head {
  const float *queries, *keys, *values;
  const uint8_t* mask;
  float* out;
};

// Keys [begin, end) of a block of rows; begin is the first of a panel.
struct KeyRange {
  int64_t begin, end;
};

class Attention {
 public:
  Attention(void* ctx, const HlokitAttentionDesc& desc)
      : ctx_(ctx),
        d_(desc),
        scale_(FloatOf(desc.scale_bits)),
        masked_(FloatOf(desc.masked_bits)),
        height_(kernels_.max_rows[0]),
        width_(kernels_.vectors[0] * kernels_.lanes),
        key_panels_(CeilDiv(desc.keys, width_)),
        value_panels_(CeilDiv(desc.value_depth, width_)) {}

  void Run(const Head& first) const {
    int64_t heads = 1;
    for (int64_t b = 0; b < d_.batch_rank; ++b) heads *= d_.batch[b].size;
    const int64_t blocks = CeilDiv(d_.rows, height_);
    const int64_t together = heads >= 4 * hlokit_num_threads(ctx_) ? blocks : kBlocksTogether;
    const int64_t groups = CeilDiv(blocks, together);
    ParallelFor(ctx_, heads * groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t from = t % groups * together;
        RunBlocks(HeadAt(first, t / groups), from, std::min(from + together, blocks));
      }
    });
  }

 private:
  // Floats that a task works with: packed keys, packed values, one block's packed queries, scores
  // and results.
  struct Space {
    float *keys, *values, *queries, *scores, *results;
  };
  int64_t KeyFloats() const { return key_panels_ * d_.depth * width_; }
  int64_t ValueFloats() const { return value_panels_ * d_.keys * width_; }
  int64_t ScorePitch() const { return key_panels_ * width_ + kernels_.lanes; }

  Head HeadAt(Head head, int64_t number) const {
    for (int64_t b = d_.batch_rank - 1; b >= 0; --b) {
      const HlokitAttentionDim& dim = d_.batch[b];
      const int64_t at = number % dim.size;
      number /= dim.size;
      head.queries += at * dim.queries;
      head.keys += at * dim.keys;
      head.values += at * dim.values;
      head.out += at * dim.out;
      if (head.mask != nullptr) head.mask += at * dim.mask;
    }
    return head;
  }

  void RunBlocks(const Head& head, int64_t from, int64_t to) const {
    const int64_t block = height_ * (d_.depth + ScorePitch() + value_panels_ * width_);
    Scratch scratch((KeyFloats() + ValueFloats() + block) * sizeof(float));
    if (scratch.data() == nullptr) return hlokit_set_error(ctx_, "out of memory in attention");
    Space space;
    space.keys = scratch.as<float>();
    space.values = space.keys + KeyFloats();
    space.scores = space.values + ValueFloats();
    space.results = space.scores + height_ * ScorePitch();
    space.queries = space.results + height_ * value_panels_ * width_;
    Pack({head.keys, HLOKIT_F32, {d_.keys, d_.key_row}, {d_.depth, d_.key_depth}}, key_panels_,
         space.keys);
    Pack({head.values, HLOKIT_F32, {d_.value_depth, d_.value_col}, {d_.keys, d_.value_row}},
         value_panels_, space.values);
    const bool finite = row_kernels_.all_finite(space.values, ValueFloats());
    for (int64_t b = from; b < to && !hlokit_cancelled(ctx_); ++b) {
      const int64_t row = b * height_, rows = std::min(height_, d_.rows - row);
      const GemmSource queries = {
          head.queries, HLOKIT_F32, {d_.rows, d_.query_row}, {d_.depth, d_.query_depth}};
      kernels_.pack_a(HLOKIT_F32)(queries, row, rows, 0, d_.depth, d_.depth, space.queries);
      const KeyRange whole = {0, d_.keys}, seen = finite ? Seen(head, row, rows) : whole;
      const bool all = seen.begin == 0 && seen.end == d_.keys;
      if (all || !FillBlock(head, row, rows, seen, /*partial=*/true, space))
        FillBlock(head, row, rows, whole, /*partial=*/false, space);
    }
  }

  void Pack(const GemmSource& source, int64_t panels, float* to) const {
    for (int64_t p = 0; p < panels; ++p)
      kernels_.pack_b(HLOKIT_F32)(source, p * width_,
                                  std::min<int64_t>(width_, source.outer.size - p * width_), 0,
                                  source.k.size, width_, to + p * source.k.size * width_);
  }

  // What some row of the block sees.
  KeyRange Seen(const Head& head, int64_t row, int64_t rows) const {
    if (head.mask == nullptr || d_.mask_key != 1) return {0, d_.keys};
    int64_t begin = d_.keys, end = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const uint8_t* mask = head.mask + (row + r) * d_.mask_row;
      begin = std::min(begin, row_kernels_.first_seen(mask, begin));
      if (begin == d_.keys) return {0, d_.keys};
      end = std::max(end, row_kernels_.end_seen(mask, d_.keys));
    }
    return {begin / width_ * width_, end};
  }

  // False where `partial` and a key left out has a weight.
  bool FillBlock(const Head& head, int64_t row, int64_t rows, const KeyRange& range, bool partial,
                 const Space& space) const {
    const int64_t pitch = ScorePitch();
    for (int64_t n = range.begin; n < range.end; n += width_)
      Multiply(rows, d_.depth, space.queries, d_.depth, space.keys + n * d_.depth, space.scores + n,
               pitch);
    float sums[kGemmMaxRows];
    for (int64_t r = 0; r < rows; ++r) {
      const SoftmaxSums row_sums = Softmax(head, row + r, range, space.scores + r * pitch);
      if (partial && !(masked_ - static_cast<double>(row_sums.largest) < kVanishes)) return false;
      sums[r] = row_sums.sum;
    }
    const int64_t result_pitch = value_panels_ * width_;
    for (int64_t n = 0; n < value_panels_; ++n)
      Multiply(rows, range.end - range.begin, space.scores + range.begin, pitch,
               space.values + (n * d_.keys + range.begin) * width_, space.results + n * width_,
               result_pitch);
    for (int64_t r = 0; r < rows; ++r) {
      float* out = head.out + (row + r) * d_.out_row;
      const float* from = space.results + r * result_pitch;
      if (d_.out_col == 1) {
        row_kernels_.divide(from, d_.value_depth, sums[r], out);
      } else {
        for (int64_t c = 0; c < d_.value_depth; ++c) out[c * d_.out_col] = from[c] / sums[r];
      }
    }
    return true;
  }

  SoftmaxSums Softmax(const Head& head, int64_t row, const KeyRange& range, float* scores) const {
    SoftmaxRow task = {scores + range.begin, range.end - range.begin, scale_, masked_, nullptr};
    if (head.mask == nullptr) return row_kernels_.softmax(task);
    const uint8_t* mask = head.mask + row * d_.mask_row;
    if (d_.mask_key == 1) {
      task.mask = mask + range.begin;
      return row_kernels_.softmax(task);
    }
    Scratch bytes(task.count);
    if (bytes.data() == nullptr) {
      hlokit_set_error(ctx_, "out of memory in attention");
      return {0, 1};
    }
    auto* copy = bytes.as<uint8_t>();
    for (int64_t j = 0; j < task.count; ++j) copy[j] = mask[(range.begin + j) * d_.mask_key];
    task.mask = copy;
    return row_kernels_.softmax(task);
  }

  // One tile: c = a x panel, in parts, since sums of sums round less.
  void Multiply(int64_t rows, int64_t depth, const float* a, int64_t lda, const float* panel,
                float* c, int64_t ldc) const {
    const MicroKernel<float> kernel = kernels_.micro[0][rows];
    for (int64_t k = 0; k < depth; k += kGemmPartDepth)
      kernel(std::min(kGemmPartDepth, depth - k), a + k, lda, panel + k * width_, width_, c, ldc,
             k > 0);
  }

  void* ctx_;
  const HlokitAttentionDesc& d_;
  const GemmKernels<float>& kernels_ = BestGemmKernels().f32;
  const AttentionKernels& row_kernels_ = HLOKIT_OF_BEST_ISA(kAttention);
  float scale_, masked_;
  int64_t height_, width_;  // of a register tile
  int64_t key_panels_, value_panels_;
};

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_attention(void* ctx, const HlokitAttentionDesc* desc, const float* queries,
                                 const float* keys, const float* values, const uint8_t* mask,
                                 float* out) {
  if (out == nullptr || desc->keys < 1) return;  // no elements
  hlokit::Attention(ctx, *desc).Run({queries, keys, values, mask, out});
}
// SPDX-License-Identifier: Apache-2.0
