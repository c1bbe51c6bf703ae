// Products whose B is packed or read in this run, where reading it from memory takes about as long
// as multiplying. Both ways read pieces of rows that are as long as can be, ask memory for them
// ahead of time, and spread that over all of the product:
// - RunStreamed: few rows; B is read in place, across many panels;
// - RunFilling: some rows; while the tiles of some panels multiply, they pack the panels that come
// next.
// They add in the order of the other ways (gemm_product.cc). Costs on one core of an Emerald Rapids
// that reads 15 GB/s and multiplies 179 GFLOP/s, products with f32[768,3072]: 8 rows 1.0 ms (in
// place without that 1.9), 128 rows 4.2 ms (4.9; 4.0 where B was packed before).
#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/cpu_features.h"
#include "runtime/dot/gemm_product_internal.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

constexpr int64_t kFilledShare = 5;        // of the second-level cache: panels that are packed; of
constexpr int64_t kFilledTasks = 3;        // so many of each thread at least
constexpr int64_t kStreamedRows = 32;      // of B that few rows of A meet together, and
constexpr int64_t kStreamedColumns = 256;  // columns at least

}  // namespace

// Few rows, and a B that comes from memory: it is read in runs of kStreamedRows rows across as
// many panels as make pieces of a kilobyte and more, which the processor prefetches well; tiles
// prefetch what they need of the next run. Sums of a part go on from run to run.
template <typename T>
void Product<T>::RunStreamed() {
  const int64_t threads = hlokit_num_threads(ctx_);
  const int64_t groups = std::min(
      panels_n_,
      CeilDiv(panels_n_, std::max<int64_t>(1, kStreamedColumns / width_) * threads) * threads);
  WithRowsOfItsOwn(groups, [&](int64_t g, std::atomic<int64_t>& next, const T* packed_a,
                               int64_t slab_a) {
    for (; g < groups && !hlokit_cancelled(ctx_); g = next.fetch_add(1, std::memory_order_relaxed))
      StreamPanels(g * panels_n_ / groups, (g + 1) * panels_n_ / groups, packed_a, slab_a);
  });
}

template <typename T>
void Product<T>::StreamPanels(int64_t first, int64_t end, const T* packed_a, int64_t slab_a) const {
  const int64_t cols = (end - first) * width_, size = rows_ * cols;
  const int64_t edge = IsWhole(end - 1) ? 0 : PanelB();
  Scratch scratch((2 * size + edge) * sizeof(T));
  if (scratch.data() == nullptr) return ReportMemory();
  T *sums = scratch.as<T>(), *part = sums + size, *packed = part + size;
  for (int64_t s = 0; s < slabs_; ++s) {
    Slab slab = SlabAt(s);
    slab.a = packed_a + s * slab_a;
    slab.b = packed;
    if (edge > 0) PackColumns(slab, end - 1, end, packed);
    for (int64_t k = 0; k < slab.depth; k += kGemmPartDepth) {
      const bool first_part = s == 0 && k == 0;
      StreamPart(slab, first, end, k, std::min(k + kGemmPartDepth, slab.depth),
                 first_part ? sums : part, cols);
      for (int64_t i = 0; i < size && !first_part; ++i) sums[i] += part[i];
    }
  }
  const int64_t exist = std::min(cols, cols_ - first * width_);
  store_(sums, cols, rows_, exist, c_, 0, first * width_);
  FinishTile(0, rows_, first * width_, exist);
}

// Positions [k0, k1) of the slab, at most kGemmPartDepth: their sums.
template <typename T>
void Product<T>::StreamPart(const Slab& slab, int64_t first, int64_t end, int64_t k0, int64_t k1,
                            T* to, int64_t ld) const {
  for (int64_t k = k0; k < k1; k += kStreamedRows) {
    for (int64_t n = first; n < end; ++n) {
      for (int64_t m = 0; m < panels_m_; ++m)
        StreamTile(slab, m, n, k, std::min(kStreamedRows, k1 - k),
                   to + m * height_ * ld + (n - first) * width_, ld, k > k0);
    }
  }
}

template <typename T>
void Product<T>::StreamTile(const Slab& slab, int64_t m, int64_t n, int64_t k, int64_t depth, T* to,
                            int64_t ld, bool continues) const {
  const int64_t rows = std::min(height_, rows_ - m * height_);
  const auto [a, lda] = RowsOf(slab, m);
  const bool direct = IsWhole(n);
  const char* b = reinterpret_cast<const char*>(slab.b + k * width_);
  int64_t ldb = width_, row_bytes = 0;
  if (direct) {
    ldb = b_.k.stride;
    row_bytes = ldb * ElementBytes(b_.type);
    b = static_cast<const char*>(b_.data) + (slab.k0 + k) * row_bytes +
        n * width_ * ElementBytes(b_.type);
  }
  const StreamingKernel<T> kernel =
      direct ? Streaming()[rows] : kernels_->fresh.streaming[shape_][rows];
  // The first tile fetches what comes next.
  const char* const ahead = m == 0 ? b + kStreamedRows * row_bytes : b;
  kernel(depth, a + k, lda, b, ldb, ahead, to, ld, continues);
}

// Some rows, and a B that is packed in this run: each thread takes neighbouring panels; while
// their tiles multiply, they pack the next ones.
template <typename T>
void Product<T>::RunFilling() {
  const int64_t threads = hlokit_num_threads(ctx_);
  const int64_t together = std::clamp<int64_t>(
      std::min(SecondLevelBytes() / (kFilledShare * PanelB() * int64_t{sizeof(T)}),
               panels_n_ / (kFilledTasks * threads)),
      1, kPackedTogether);
  std::atomic<int64_t> next = 0;
  ParallelFor(ctx_, threads, 1, [&](int64_t, int64_t) {
    const auto take = [&] {
      const int64_t first = next.fetch_add(together, std::memory_order_relaxed);
      return Piece{0, first, std::min(first + together, panels_n_)};
    };
    Piece at = take();
    if (at.first >= panels_n_) return;
    const int64_t slab_a = direct_a_ ? 0 : panels_m_ * PanelA();
    const int64_t sum_size = keeps_sums_ ? panels_m_ * height_ * together * width_ : 0;
    Scratch scratch((slabs_ * slab_a + sum_size + 2 * together * PanelB()) * sizeof(T));
    if (scratch.data() == nullptr) return ReportMemory();
    T *packed_a = scratch.as<T>(), *sums = packed_a + slabs_ * slab_a;
    T *now = sums + sum_size, *then = now + together * PanelB();
    PackAllRows(packed_a);
    for (bool packed = false; at.first < panels_n_ && !hlokit_cancelled(ctx_);) {
      const Piece after = at.slab + 1 < slabs_ ? Piece{at.slab + 1, at.first, at.end} : take();
      Slab slab = SlabAt(at.slab);
      slab.a = packed_a + at.slab * slab_a;
      slab.b = now - at.first * PanelB();  // where panel 0 would lie
      slab.sums = sums;
      slab.sum_pitch = together * width_;
      slab.sum_col = at.first * width_;
      if (!packed) PackHere(slab, at, now - at.first * PanelB());
      packed = FillPiece(slab, at, after, then);
      at = after;
      std::swap(now, then);
    }
  });
}

// Panels that were not packed meanwhile: by their first tiles, if they are whole.
template <typename T>
void Product<T>::PackHere(Slab& slab, const Piece& at, T* packed_b) const {
  slab.packs_to = packed_b;
  if (!IsWhole(at.end - 1)) PackColumns(slab, at.end - 1, at.end, packed_b);
}

// Multiplies the panels `at`, and packs those of `after` at `then`, if they are whole; says
// whether.
template <typename T>
bool Product<T>::FillPiece(const Slab& slab, const Piece& at, const Piece& after, T* then) const {
  const bool fills = after.first < panels_n_ && IsWhole(after.end - 1);
  Filling filling = {after, fills ? SlabAt(after.slab).k0 : 0, fills ? SlabAt(after.slab).depth : 0,
                     then};
  const int64_t tiles = (at.end - at.first) * panels_m_;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t n = at.first + i / panels_m_, m = i % panels_m_;
    filling.until = filling.depth * (i + 1) / tiles;
    // Tiles that pack their own panel leave the next ones to the others.
    const bool packs = slab.packs_to != nullptr && m == 0;
    FillTile(slab, m, n, {}, packs ? nullptr : &filling);
  }
  FillRest(filling);
  return fills;
}

template <typename T>
void Product<T>::FillRest(const Filling& filling) const {
  const int64_t left = filling.depth - filling.done;
  T* to = filling.to + filling.done * width_;
  for (int64_t n = filling.piece.first; n < filling.piece.end && left > 0; ++n, to += PanelB())
    kernels_->pack_b(b_.type)(b_, n * width_, width_, filling.k0 + filling.done, left, width_, to);
}

template void Product<float>::RunStreamed();
template void Product<float>::RunFilling();
template void Product<double>::RunStreamed();
template void Product<double>::RunFilling();
template void Product<uint32_t>::RunStreamed();
template void Product<uint32_t>::RunFilling();
template void Product<uint64_t>::RunStreamed();
template void Product<uint64_t>::RunFilling();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
