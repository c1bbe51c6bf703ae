// Blocked matrix product C = A B, in the manner of GotoBLAS and BLIS.
//
// The innermost kernel computes a register tile of C, e.g. 14 x 32 of f32 on AVX512: per position k
// it loads one row of B (two vectors), broadcasts each element of a column of A, and does one fused
// multiply-add per accumulator. To feed it with contiguous memory, A is packed into panels of the
// tile's height and B into panels of its width. Depth is cut into slabs so that a panel of B stays
// in the first-level cache and a block of panels of A in the second-level one (kBlockBytes).
//
// Six ways of running. The first five add in the same order and give the same bits, so the choice
// among them may depend on the number of threads; RunDeep depends on the sizes alone:
// - RunSlabs: the general case; per slab A and B are packed, then tiles are distributed to threads;
// - RunTall: many rows: B is packed once for all, each thread packs and multiplies blocks of A;
// - RunWide: few rows: each thread packs A, if at all, and panels of B (or the first tile does,
// PacksInTiles, and the tiles after it prefetch the next panel, so that memory is read while all
// tiles multiply);
// - RunStreamed, RunFilling (gemm_fresh.cc): few and some rows, where B comes from memory in this
// run;
// - RunDeep: few tiles, long sums, in parts of at least kDeepPart positions. Products of one or a
// few rows or columns are dot products of rows instead (row_dots.h).
//
// Weights that no run changes are packed once for all runs (frozen_arrays.h): the first three ways
// then read B from there. Tiles prefetch the panel of packed B that comes next, too.
//
// Operands are read through index maps (index_maps_internal.h), so that convolutions and batched,
// transposed or strided dots use this code without a copy of their operands. Cost: 2 m n k flops
// near the peak of the machine; packing m k + n k elements.
#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/cpu_features.h"
#include "runtime/dot/gemm_product_internal.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

constexpr int64_t kSerialWork = 1 << 19;    // multiply-adds that are not worth a second thread
constexpr int64_t kBlockBytes = 256 << 10;  // packed rows of A that stay in the second-level cache
constexpr int64_t kPackedBytes = 32 << 20;  // packed B that is kept for all of a tall A
constexpr int64_t kLinesShare = 4;          // of the second-level cache: B that stays there
constexpr int64_t kWideRows = 256;          // of a wide product at most
constexpr int64_t kMaxDeepParts = 64;       // parts
constexpr int64_t kPanelTasks = 6;          // of panels of a wide product for each thread

}  // namespace

template <typename T>
void Product<T>::Run() {
  const bool swapped = Swapped();
  if (swapped) {
    std::swap(a_, b_);
    std::swap(c_.rows, c_.cols);
    if (kernels_->mirrored != nullptr) kernels_ = kernels_->mirrored;
  }
  rows_ = c_.rows.size;
  cols_ = c_.cols.size;
  depth_ = a_.k.size;
  store_ = kernels_->store(c_.type);
  if constexpr (T(0.5) != T(0) || sizeof(T) == 4) {
    if (RunRowDots(ctx_, *kernels_, a_, b_, c_)) return;
  }
  ChooseShape();
  serial_ = static_cast<double>(rows_) * cols_ * std::max<int64_t>(depth_, 1) < kSerialWork;
  if (IsDeep()) return RunDeep();
  direct_a_ = AReadable();
  direct_b_ = BReadable();
  direct_c_ = store_ == kernels_->store(kOwnType) && c_.cols.table == nullptr &&
              c_.cols.stride == 1 && c_.rows.table == nullptr;
  if (Finishes(swapped)) {
    finish_ = BestFinishRows();
    c_.finish->done = true;
  }
  ChooseDepth();
  keeps_sums_ = slabs_ > 1 && !direct_c_;
  block_ = std::max<int64_t>(1, kBlockBytes / PanelA() / int64_t{sizeof(T)});
  const int64_t whole_b = slabs_ * panels_n_ * PanelB();
  FindFrozen(whole_b);
  const int64_t threads = hlokit_num_threads(ctx_), blocks = CeilDiv(panels_m_, block_);
  const bool tall = blocks >= (frozen_b_ != nullptr ? 2 : 4) * threads && !direct_b_;
  if (tall && (frozen_b_ != nullptr || whole_b * int64_t{sizeof(T)} <= kPackedBytes))
    return RunTall(whole_b);
  if (Streams()) return RunStreamed();
  if (!serial_ && rows_ > kStreamingRows && panels_n_ >= 2 * threads && FillsNext())
    direct_b_ = false;
  const bool wide = rows_ <= kWideRows && panels_n_ >= 2 * threads && !direct_b_ && !serial_;
  if (wide && FillsNext()) return RunFilling();
  if (wide && slabs_ * panels_m_ * PanelA() * int64_t{sizeof(T)} <= kPackedBytes) return RunWide();
  RunSlabs();
}

// B's packed form, if B is an array of weights that no run changes: as RunTall packs it. Of B
// that could be read in place, where it is large: packed panels lie together in memory, which
// streams them twice as fast as pieces of rows, a page apart.
template <typename T>
void Product<T>::FindFrozen(int64_t whole_b) {
  const auto* run = static_cast<const HlokitRunContext*>(ctx_);
  const bool streams = whole_b * int64_t{sizeof(T)} >= kStreamedBytes;
  if (run == nullptr || run->frozen == nullptr || serial_ || (direct_b_ && !streams)) return;
  if (b_.outer.table != nullptr || b_.k.table != nullptr || b_.negate_from < depth_) return;
  // Packed, bf16 would be twice as long and bytes four times: that pays where several tiles read
  // it.
  if (((b_.type == HLOKIT_BF16 && panels_m_ == 1) || IsOfBytes()) && Streams()) return;
  const auto& arrays = *static_cast<const FrozenArrays*>(run->frozen);
  PackedKey key = {.type = b_.type,
                   .cols = cols_,
                   .col_stride = b_.outer.stride,
                   .depth = depth_,
                   .depth_stride = b_.k.stride,
                   .width = width_,
                   .slab_depth = packed_depth_,
                   .kernels = kernels_};
  if (!arrays.Locate(b_.data, &key)) return;
  const bool was_direct = std::exchange(direct_b_, false);
  const int64_t bytes = whole_b * int64_t{sizeof(T)};
  PackedForms::Found found = arrays.forms().Find(key, bytes);
  if (found.fill != nullptr) {
    PackAll(reinterpret_cast<T*>(found.fill.get()));
    // A cancelled run leaves loops out.
    if (hlokit_cancelled(ctx_)) return arrays.forms().Abandon(key);
    arrays.forms().Add(key, found.fill, bytes);
    found.packed = std::move(found.fill);
  }
  frozen_bytes_ = std::move(found.packed);
  frozen_b_ = reinterpret_cast<const T*>(frozen_bytes_.get());
  direct_b_ = was_direct && frozen_b_ == nullptr;
}

// Slab by slab, panel by panel.
template <typename T>
void Product<T>::PackAll(T* packed_b) const {
  const int64_t groups = CeilDiv(panels_n_, kPackedTogether);
  ParallelFor(ctx_, slabs_ * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t s = i / groups, first = i % groups * kPackedTogether;
      PackColumns(SlabAt(s), first, std::min(first + kPackedTogether, panels_n_),
                  packed_b + s * panels_n_ * PanelB());
    }
  });
}

// Partial sums in parallel, then their sums. How many depends on the sizes alone.
template <typename T>
void Product<T>::RunDeep() const {
  const int64_t parts = std::min(depth_ / kDeepPart, kMaxDeepParts), size = rows_ * cols_;
  Scratch scratch(parts * size * sizeof(T));
  if (scratch.data() == nullptr) return ReportMemory();
  T* sums = scratch.as<T>();
  ParallelFor(ctx_, parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t from = p * depth_ / parts, to = (p + 1) * depth_ / parts;
      const GemmTarget part = {sums + p * size, kOwnType, {rows_, cols_}, {cols_, 1}};
      Product(ctx_, *kernels_, Part(a_, from, to), Part(b_, from, to), part, false).Run();
    }
  });
  for (int64_t p = 1; p < parts; ++p)
    for (int64_t i = 0; i < size; ++i) sums[i] += sums[p * size + i];
  store_(sums, cols_, rows_, cols_, c_, 0, 0);
}

// Slab by slab, A and B packed ahead for all threads.
template <typename T>
void Product<T>::RunSlabs() {
  const int64_t b_panels = frozen_b_ != nullptr ? 0 : direct_b_ ? cols_ % width_ != 0 : panels_n_;
  const int64_t a_size = panels_m_ * PanelA(), b_size = b_panels * PanelB();
  const int64_t sum_size = keeps_sums_ ? rows_ * SumPitch() : 0;
  Scratch scratch((a_size + b_size + sum_size) * sizeof(T));
  if (scratch.data() == nullptr) return ReportMemory();
  T* packed_a = scratch.as<T>();
  T* packed_b = packed_a + a_size;
  for (int64_t s = 0; s < slabs_; ++s) {
    Slab slab = SlabAt(s);
    slab.a = packed_a;
    slab.b = frozen_b_ != nullptr ? frozen_b_ + s * panels_n_ * PanelB() : packed_b;
    slab.sums = packed_b + b_size;
    const int64_t items = panels_m_ + (frozen_b_ != nullptr ? 0 : panels_n_);
    ParallelFor(ctx_, items, serial_ ? items : 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < std::min(end, panels_m_); ++i)
        PackRows(slab, i, packed_a + i * PanelA());
      if (end > panels_m_)
        PackColumns(slab, std::max(begin, panels_m_) - panels_m_, end - panels_m_, packed_b);
    });
    FillBlocks(slab);
  }
}

template <typename T>
void Product<T>::FillBlocks(const Slab& slab) const {
  // Enough blocks, of one size, that no thread waits long for the last block of another.
  const int64_t wanted = 8 * hlokit_num_threads(ctx_);
  const int64_t blocks_m =
      std::clamp(CeilDiv(wanted, panels_n_), CeilDiv(panels_m_, block_), panels_m_);
  const int64_t group = std::clamp<int64_t>(blocks_m * panels_n_ / wanted, 1, 16);
  const int64_t groups_n = CeilDiv(panels_n_, group);
  const int64_t tasks = blocks_m * groups_n;
  ParallelFor(ctx_, tasks, serial_ ? tasks : 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t m = t / groups_n, n = t % groups_n * group;
      FillBlock(slab, m * panels_m_ / blocks_m, (m + 1) * panels_m_ / blocks_m, n,
                std::min(n + group, panels_n_));
    }
  });
}

// Many rows: all of B is packed once, then each block of rows is packed and multiplied while it
// is in the cache.
template <typename T>
void Product<T>::RunTall(int64_t whole_b) {
  Scratch scratch(frozen_b_ != nullptr ? 0 : whole_b * sizeof(T));
  if (scratch.data() == nullptr) return ReportMemory();
  const T* packed_b = frozen_b_;
  if (packed_b == nullptr) {
    PackAll(scratch.as<T>());
    packed_b = scratch.as<T>();
  }
  // As many for each thread.
  const int64_t threads = hlokit_num_threads(ctx_);
  const int64_t blocks = CeilDiv(CeilDiv(panels_m_, block_), threads) * threads;
  ParallelFor(ctx_, blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      RunBlock(i * panels_m_ / blocks, (i + 1) * panels_m_ / blocks, packed_b);
  });
}

template <typename T>
void Product<T>::RunBlock(int64_t first, int64_t end, const T* packed_b) const {
  const int64_t slab_b = panels_n_ * PanelB();
  const int64_t sum_size = keeps_sums_ ? block_ * height_ * SumPitch() : 0;
  Scratch scratch((block_ * PanelA() + sum_size) * sizeof(T));
  if (scratch.data() == nullptr) return ReportMemory();
  T* packed_a = scratch.as<T>();
  for (int64_t s = 0; s < slabs_; ++s) {
    Slab slab = SlabAt(s);
    for (int64_t m = first; m < end; ++m) PackRows(slab, m, packed_a + (m - first) * PanelA());
    slab.a = packed_a;
    slab.a_panel = first;
    slab.b = packed_b + s * slab_b;
    if (!slab.last) slab.b_after = slab.b + slab_b;
    slab.sums = packed_a + block_ * PanelA();
    if (slab_b * int64_t{sizeof(T)} <= SecondLevelBytes() / kLinesShare) {
      FillLines(slab, first, end);
    } else {
      FillBlock(slab, first, end, 0, panels_n_);
    }
  }
}

// Few rows: each thread packs A for itself, since memory that another core has read is slow to
// write, then takes panels of columns, packs and multiplies them while they are in the cache.
template <typename T>
void Product<T>::RunWide() {
  // Neighbouring panels together: a row of B in memory gives each of them a short piece.
  const int64_t threads = hlokit_num_threads(ctx_);
  const int64_t most =
      std::clamp<int64_t>(2 * kBlockBytes / PanelB() / int64_t{sizeof(T)}, 1, kPackedTogether);
  const int64_t together = frozen_b_ != nullptr ? 1 : PacksInTiles() ? 2 : most;
  const int64_t group = std::clamp<int64_t>(panels_n_ / (kPanelTasks * threads), 1, together);
  const int64_t groups = CeilDiv(panels_n_, group);
  // The last of packed panels are dealt in halves of the rows, so that threads end together.
  const bool halves = frozen_b_ != nullptr && panels_m_ > 1;
  const int64_t whole = halves ? std::max<int64_t>(0, groups - threads - groups % threads) : groups;
  const int64_t items = whole + 2 * (groups - whole);
  const auto group_of = [&](int64_t i) { return i < whole ? i : whole + (i - whole) / 2; };
  WithRowsOfItsOwn(items, [&](int64_t i, std::atomic<int64_t>& next, const T* packed_a,
                              int64_t slab_a) {
    while (i < items && !hlokit_cancelled(ctx_)) {
      const int64_t after = next.fetch_add(1, std::memory_order_relaxed);
      const int64_t g = group_of(i), half = i < whole ? panels_m_ : (panels_m_ + 1) / 2;
      const int64_t m = i < whole ? 0 : (i - whole) % 2 * half;
      RunPanels({g * group, std::min((g + 1) * group, panels_n_), m, std::min(m + half, panels_m_),
                 after < items ? group_of(after) * group : panels_n_},
                packed_a, slab_a);
      i = after;
    }
  });
}

template <typename T>
void Product<T>::RunPanels(const Panels& panels, const T* packed_a, int64_t slab_a) const {
  const int64_t first = panels.first, end = panels.end, after = panels.after;
  const int64_t cols = (end - first) * width_;
  int64_t b_size = (end - first) * PanelB();
  if (frozen_b_ != nullptr) b_size = 0;
  Scratch scratch((b_size + (keeps_sums_ ? rows_ * cols : 0)) * sizeof(T));
  if (scratch.data() == nullptr) return ReportMemory();
  T* packed_b = scratch.as<T>() - first * PanelB();  // where panel 0 would lie
  const int64_t slab_b = panels_n_ * PanelB();
  for (int64_t s = 0; s < slabs_; ++s) {
    Slab slab = SlabAt(s);
    slab.end = end;
    slab.after = after;
    if (frozen_b_ != nullptr) {
      slab.b = frozen_b_ + s * slab_b;
      slab.b_after = !slab.last          ? slab.b + slab_b + first * PanelB()
                     : after < panels_n_ ? frozen_b_ + after * PanelB()
                                         : nullptr;
    } else {
      slab.b = packed_b;
      if (PacksInTiles()) slab.packs_to = packed_b;
      const int64_t packs_from = slab.packs_to == nullptr ? first
                                 : IsWhole(end - 1)       ? end
                                                          : end - 1;
      PackColumns(slab, packs_from, end, packed_b);
    }
    slab.a = packed_a + s * slab_a;
    slab.sums = scratch.as<T>() + b_size;
    slab.sum_pitch = cols;
    slab.sum_col = first * width_;
    for (int64_t m = panels.m; m < panels.m_end; m += block_)
      FillBlock(slab, m, std::min(m + block_, panels.m_end), first, end);
  }
}

namespace {

template <typename T>
void RunProduct(void* ctx, const GemmKernels<T>& kernels, const GemmSource& a, const GemmSource& b,
                const GemmTarget& c) {
  Product<T>(ctx, kernels, a, b, c).Run();
}

}  // namespace

void Gemm(void* ctx, const GemmSource& a, const GemmSource& b, const GemmTarget& c) {
  if (c.rows.size == 0 || c.cols.size == 0) return;
  switch (GemmAccumulator(a.type, b.type, c.type)) {
    case HLOKIT_F32:
      return RunProduct(ctx, FloatKernels(a, b, c), a, b, c);
    case HLOKIT_F64:
      return RunProduct(ctx, BestGemmKernels().f64, a, b, c);
    case HLOKIT_U32:
      return RunProduct(ctx, IntegerKernels(a, b, c), a, b, c);
    case HLOKIT_U64:
      return RunProduct(ctx, BestGemmKernels().u64, a, b, c);
    default:
      SetKernelError(ctx, "no matrix product for element types %d x %d -> %d", a.type, b.type,
                     c.type);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
