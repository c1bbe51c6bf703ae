// Blocked matrix product C = A B, in the manner of GotoBLAS and BLIS.
//
// The innermost kernel computes a register tile of C, e.g. 14 x 32 of f32 on AVX512: per position k
// it loads one row of B (two vectors), broadcasts each element of a column of A, and does one fused
// multiply-add per accumulator. To feed it with contiguous memory, A is packed into panels of the
// tile's height and B into panels of its width. Depth is cut into slabs so that a panel of B stays
// in the first-level cache and a block of panels of A in the second-level one (kBlockBytes).
//
// Four ways of running. The first three add in the same order and give the same bits, so the choice
// among them may depend on the number of threads; RunDeep depends on the sizes alone:
// - RunSlabs: the general case; per slab A and B are packed, then tiles are distributed to threads;
// - RunTall: many rows: B is packed once for all, each thread packs and multiplies blocks of A;
// - RunWide: few rows: each thread packs A, if at all, and panels of B (or the first tile does,
// PacksInTiles, and the tiles after it prefetch the next panel, so that memory is read while all
// tiles multiply);
// - RunDeep: few tiles, long sums, in parts of at least kDeepPart positions. Products of one or a
// few rows or columns are dot products of rows instead (row_dots.h).
//
// Weights that no run changes are packed once for all runs (frozen_arrays.h): the first three ways
// then read B from there. Tiles prefetch the panel of packed B that comes next, too.
//
// Operands are read through index maps (index_maps_internal.h), so that convolutions and batched,
// transposed or strided dots use this code without a copy of their operands. Cost: 2 m n k flops
// near the peak of the machine; packing m k + n k elements.
#include "runtime/dot/gemm_internal.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/context.h"
#include "runtime/dot/frozen_arrays.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {
namespace {

constexpr int64_t kSerialWork = 1 << 19;     // multiply-adds that are not worth a second thread
constexpr int64_t kBlockBytes = 256 << 10;   // packed rows of A that stay in the second-level cache
constexpr int64_t kPackedTogether = 8;       // panels of B, and
constexpr int64_t kRowsTogether = 4;         // rows of it, or
constexpr int64_t kTransposedTogether = 16;  // rows that are transposed
constexpr int64_t kPackedBytes = 32 << 20;   // packed B that is kept for all of a tall A
constexpr int64_t kWideRows = 256;           // of a wide product at most
constexpr int64_t kFewTiles = 6;             // are too few for the threads where sums are deep:
constexpr int64_t kDeepPart = 512;           // positions of k at least that make a part, and
constexpr int64_t kMaxDeepParts = 64;        // parts
constexpr int64_t kPanelTasks = 6;           // of panels of a wide product for each thread
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kStreamedBytes = 1 << 20;  // of B, which the second-level cache does not hold
constexpr int64_t kLineBytes = 64;
constexpr int64_t kPitchUnit = 16;  // elements that depths of slabs are multiples of

template <typename T>
class Product {
 public:
  // `whole`: not a part of another's sums.
  Product(void* ctx, const GemmKernels<T>& kernels, const GemmSource& a, const GemmSource& b,
          const GemmTarget& c, bool whole = true)
      : ctx_(ctx), kernels_(&kernels), a_(a), b_(b), c_(c), whole_(whole) {}

  void Run() {
    if (Swapped()) {
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
    ChooseDepth();
    keeps_sums_ = slabs_ > 1 && !direct_c_;
    block_ = std::max<int64_t>(1, kBlockBytes / PanelA() / int64_t{sizeof(T)});
    const int64_t whole_b = slabs_ * panels_n_ * PanelB();
    FindFrozen(whole_b);
    const int64_t threads = hlokit_num_threads(ctx_), blocks = CeilDiv(panels_m_, block_);
    const bool tall = blocks >= (frozen_b_ != nullptr ? 2 : 4) * threads && !direct_b_;
    if (tall && (frozen_b_ != nullptr || whole_b * int64_t{sizeof(T)} <= kPackedBytes))
      return RunTall(whole_b);
    const bool wide = rows_ <= kWideRows && panels_n_ >= 2 * threads && !direct_b_ && !serial_;
    if (wide && slabs_ * panels_m_ * PanelA() * int64_t{sizeof(T)} <= kPackedBytes)
      return RunWide();
    RunSlabs();
  }

 private:
  static constexpr int32_t kOwnType = sizeof(T) == 4 ? (T(0.5) != T(0) ? HLOKIT_F32 : HLOKIT_U32)
                                                     : (T(0.5) != T(0) ? HLOKIT_F64 : HLOKIT_U64);

  // Computing C transposed pays where the padding of narrow columns would be larger, or C is stored
  // by columns.
  bool Swapped() const {
    const double padded = Padded(c_.cols.size) * c_.rows.size;
    const double swapped = Padded(c_.rows.size) * c_.cols.size;
    if (swapped != padded && (swapped < 0.8 * padded || padded < 0.8 * swapped))
      return swapped < padded;
    return c_.rows.table == nullptr && c_.rows.stride == 1 && c_.cols.stride != 1 &&
           c_.rows.size > 1;
  }

  bool IsNarrow(int64_t cols) const {
    return kernels_->vectors[kGemmNarrow] > 0 && cols <= kernels_->lanes;
  }
  // Columns that the kernels would compute, whole vectors of them.
  double Padded(int64_t cols) const {
    const int64_t unit = IsNarrow(cols) ? kernels_->lanes : 2 * kernels_->lanes;
    return static_cast<double>(CeilDiv(cols, unit) * unit);
  }

  void ChooseShape() {
    shape_ = IsNarrow(cols_) ? kGemmNarrow : 0;
    while (shape_ + 1 < kGemmNarrow && kernels_->vectors[shape_ + 1] > 0 &&
           rows_ <= kernels_->max_rows[shape_ + 1] &&
           cols_ > kernels_->vectors[shape_] * kernels_->lanes) {
      ++shape_;
    }
    width_ = kernels_->vectors[shape_] * kernels_->lanes;
    panels_m_ = CeilDiv(rows_, kernels_->max_rows[shape_]);
    height_ = CeilDiv(rows_, panels_m_);  // evened out
    panels_n_ = CeilDiv(cols_, width_);
  }

  // Slabs of equal depth. Packed rows of A lie a vector further apart, not to fall on the same
  // lines of the cache.
  void ChooseDepth() {
    const int64_t units = std::max<int64_t>(CeilDiv(depth_, kernels_->depth_unit), 1);
    slabs_ = CeilDiv(units, kernels_->slab_depth);
    packed_depth_ = CeilDiv(CeilDiv(units, slabs_), kPitchUnit) * kPitchUnit;
    pitch_ = packed_depth_ + kPitchUnit;
  }

  // Whether micro kernels may read A in place: its rows are contiguous. Rows at multiples of half a
  // page would fall on the same few sets of the cache.
  bool AReadable() const {
    const int64_t pitch_bytes = a_.outer.stride * int64_t{sizeof(T)};
    return kernels_->depth_unit == 1 && a_.outer.table == nullptr && a_.k.table == nullptr &&
           (a_.k.stride == 1 || depth_ == 1) && a_.negate_from >= depth_ &&
           kernels_->pack_a(a_.type) == kernels_->pack_a(kOwnType) &&
           (pitch_bytes % (kPageBytes / 2) != 0 || depth_ <= kPitchUnit);
  }

  // Whether micro kernels may read B in place: its rows are contiguous, and too little reuse would
  // repay packing.
  bool BReadable() {
    if (b_.outer.table != nullptr || b_.outer.stride != 1 || b_.k.table != nullptr) return false;
    if (b_.negate_from < depth_ || panels_m_ > 2) return false;
    if (b_.type == HLOKIT_BF16) return kernels_->micro_bf16[0][1] != nullptr;
    return kernels_->pack_b(b_.type) == kernels_->pack_b(kOwnType) ||
           (kOwnType == HLOKIT_U32 && b_.type == HLOKIT_S32) ||
           (kOwnType == HLOKIT_U64 && b_.type == HLOKIT_S64);
  }

  int64_t SlabDepth() const { return packed_depth_ * kernels_->depth_unit; }
  int64_t SumPitch() const { return panels_n_ * width_; }
  bool IsWhole(int64_t panel) const { return (panel + 1) * width_ <= cols_; }
  bool PanelIsDirect(int64_t panel) const { return direct_b_ && IsWhole(panel); }
  // The register tile of a panel: a last panel of one vector at most takes the narrow one, which
  // adds in the same order and computes no columns that do not exist.
  int ShapeOf(int64_t panel) const {
    const bool narrow = !IsWhole(panel) && cols_ - panel * width_ <= kernels_->lanes &&
                        kernels_->depth_unit == 1 && kernels_->vectors[kGemmNarrow] > 0;
    return narrow ? kGemmNarrow : shape_;
  }

  // Elements of one packed panel in one slab.
  int64_t PanelA() const { return height_ * pitch_; }
  int64_t PanelB() const {
    return width_ * (packed_depth_ + (kernels_->close_panel != nullptr ? 1 : 0));
  }

  // Lines of the cache that a tile prefetches, one for each step of its loop.
  struct Lines {
    const char* first = nullptr;  // null: none
    int64_t step = 0;             // bytes from one to the next
  };

  // What the tiles of one slab work on.
  struct Slab {
    int64_t k0, depth;
    bool first, last;
    const T* a;  // packed A from panel `a_panel` on
    int64_t a_panel;
    const T* b;   // packed B, or its last panel alone if B is read in place
    T* packs_to;  // the same, where the first tile that needs a whole panel packs it; else null
    T* sums;      // unrounded sums from row panel `a_panel` and column `sum_col` on, where C cannot
                  // hold them
    int64_t sum_pitch, sum_col;
    int64_t end, after;  // of panels that tiles work on; the one that comes next
    const T* b_after;    // packed B that comes after the last of them; null: none, or unknown
  };
  Slab SlabAt(int64_t s) const {
    const int64_t k0 = s * SlabDepth();
    return {k0,        std::min(SlabDepth(), depth_ - k0),
            s == 0,    s == slabs_ - 1,
            nullptr,   0,
            nullptr,   nullptr,
            nullptr,   SumPitch(),
            0,         panels_n_,
            panels_n_, nullptr};
  }

  // Whether a register tile can pack the panel of B that it reads: its rows lie together in memory.
  bool PacksInTiles() const {
    const int32_t type = kernels_->depth_unit == 1 ? kOwnType : HLOKIT_BF16;
    return b_.type == type && b_.outer.table == nullptr && b_.outer.stride == 1 &&
           b_.k.table == nullptr && b_.negate_from >= depth_ &&
           depth_ % kernels_->depth_unit == 0 && kernels_->packing[shape_][height_] != nullptr;
  }

  bool IsDeep() const {
    return whole_ && !serial_ && panels_m_ * panels_n_ <= kFewTiles && depth_ >= 2 * kDeepPart &&
           kernels_->depth_unit == 1 && a_.k.table == nullptr && b_.k.table == nullptr &&
           a_.negate_from >= depth_ && b_.negate_from >= depth_;
  }

  // B's packed form, if B is an array of weights that no run changes: as RunTall packs it. Of B
  // that could be read in place, where it is large: packed panels lie together in memory, which
  // streams them twice as fast as pieces of rows, a page apart.
  void FindFrozen(int64_t whole_b) {
    const auto* run = static_cast<const HlokitRunContext*>(ctx_);
    const bool streams = whole_b * int64_t{sizeof(T)} >= kStreamedBytes;
    if (run == nullptr || run->frozen == nullptr || serial_ || (direct_b_ && !streams)) return;
    if (b_.outer.table != nullptr || b_.k.table != nullptr || b_.negate_from < depth_) return;
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
  void PackAll(T* packed_b) const {
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
  void RunDeep() const {
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

  static GemmSource Part(GemmSource source, int64_t from, int64_t to) {
    source.data =
        static_cast<const char*>(source.data) + from * source.k.stride * ElementBytes(source.type);
    source.k.size = to - from;
    return source;
  }

  // Slab by slab, A and B packed ahead for all threads.
  void RunSlabs() {
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

  void FillBlocks(const Slab& slab) const {
    const int64_t blocks_m = CeilDiv(panels_m_, block_);
    const int64_t wanted = 8 * hlokit_num_threads(ctx_);
    const int64_t group = std::clamp<int64_t>(blocks_m * panels_n_ / wanted, 1, 16);
    const int64_t groups_n = CeilDiv(panels_n_, group);
    const int64_t tasks = blocks_m * groups_n;
    ParallelFor(ctx_, tasks, serial_ ? tasks : 1, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t m = t / groups_n * block_, n = t % groups_n * group;
        FillBlock(slab, m, std::min(m + block_, panels_m_), n, std::min(n + group, panels_n_));
      }
    });
  }

  // Many rows: all of B is packed once, then each block of rows is packed and multiplied while it
  // is in the cache.
  void RunTall(int64_t whole_b) {
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

  void RunBlock(int64_t first, int64_t end, const T* packed_b) const {
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
      FillBlock(slab, first, end, 0, panels_n_);
    }
  }

  // Few rows: each thread packs A for itself, since memory that another core has read is slow to
  // write, then takes panels of columns, packs and multiplies them while they are in the cache.
  void RunWide() {
    // Neighbouring panels together: a row of B in memory gives each of them a short piece.
    const int64_t threads = hlokit_num_threads(ctx_);
    const int64_t most =
        std::clamp<int64_t>(2 * kBlockBytes / PanelB() / int64_t{sizeof(T)}, 1, kPackedTogether);
    const int64_t together = frozen_b_ != nullptr ? 1 : PacksInTiles() ? 2 : most;
    const int64_t group = std::clamp<int64_t>(panels_n_ / (kPanelTasks * threads), 1, together);
    const int64_t groups = CeilDiv(panels_n_, group);
    std::atomic<int64_t> next = 0;
    ParallelFor(ctx_, threads, 1, [&](int64_t, int64_t) {
      int64_t g = next.fetch_add(1, std::memory_order_relaxed);
      if (g >= groups) return;
      const int64_t slab_a = direct_a_ ? 0 : panels_m_ * PanelA();
      Scratch scratch(slabs_ * slab_a * sizeof(T));
      if (scratch.data() == nullptr) return ReportMemory();
      T* packed_a = scratch.as<T>();
      for (int64_t i = 0; i < slabs_ * panels_m_ && !direct_a_; ++i)
        PackRows(SlabAt(i / panels_m_), i % panels_m_, packed_a + i * PanelA());
      while (g < groups && !hlokit_cancelled(ctx_)) {
        const int64_t after = next.fetch_add(1, std::memory_order_relaxed);
        RunPanels(g * group, std::min((g + 1) * group, panels_n_),
                  after < groups ? after * group : panels_n_, packed_a, slab_a);
        g = after;
      }
    });
  }

  // Panels [first, end); the thread's next ones begin at `after`.
  void RunPanels(int64_t first, int64_t end, int64_t after, const T* packed_a,
                 int64_t slab_a) const {
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
      for (int64_t m = 0; m < panels_m_; m += block_)
        FillBlock(slab, m, std::min(m + block_, panels_m_), first, end);
    }
  }

  void PackRows(const Slab& slab, int64_t panel, T* to) const {
    if (direct_a_) return;
    const int64_t row = panel * height_;
    kernels_->pack_a(a_.type)(a_, row, std::min(height_, rows_ - row), slab.k0, slab.depth, pitch_,
                              to);
  }

  // Panels [first, end), a few rows of B at a time: those of a row lie together in memory, or as
  // many as lie together in a column.
  void PackColumns(const Slab& slab, int64_t first, int64_t end, T* packed_b) const {
    const int64_t together = LiesAlongK(b_) || b_.outer.table != nullptr
                                 ? kTransposedTogether * kernels_->depth_unit
                                 : kRowsTogether;
    for (int64_t k = 0; k < slab.depth; k += together) {
      for (int64_t n = first; n < end; ++n) {
        if (PanelIsDirect(n)) continue;
        T* panel = direct_b_ ? packed_b : packed_b + n * PanelB();
        kernels_->pack_b(b_.type)(b_, n * width_, std::min(width_, cols_ - n * width_), slab.k0 + k,
                                  std::min(together, slab.depth - k), width_,
                                  panel + k / kernels_->depth_unit * width_);
      }
    }
    if (kernels_->close_panel == nullptr) return;
    for (int64_t n = first; n < end; ++n)
      kernels_->close_panel(packed_b + n * PanelB(), CeilDiv(slab.depth, kernels_->depth_unit));
  }

  void FillBlock(const Slab& slab, int64_t m0, int64_t m1, int64_t n0, int64_t n1) const {
    for (int64_t n = n0; n < n1; ++n) {
      for (int64_t m = m0; m < m1; ++m) FillTile(slab, m, n, LinesAhead(slab, m, m - m0, n));
    }
  }

  void FillTile(const Slab& slab, int64_t m, int64_t n, const Lines& ahead) const {
    const int64_t row = m * height_, col = n * width_;
    const int64_t rows = std::min(height_, rows_ - row), cols = std::min(width_, cols_ - col);
    const bool in_place =
        direct_c_ && (cols == width_ || (cols == kernels_->lanes && ShapeOf(n) == kGemmNarrow));
    alignas(64) T tile[kGemmTileElements];
    T* to = tile;
    int64_t ld = width_;
    if (in_place) {
      ld = c_.rows.stride;
      to = static_cast<T*>(c_.data) + row * ld + col;
    } else if (keeps_sums_) {
      ld = slab.sum_pitch;
      to = slab.sums + (row - slab.a_panel * height_) * ld + col - slab.sum_col;
    }
    Multiply(slab, m, n, rows, ahead, to, ld, !slab.first && to != tile);
    if (in_place) return;
    if (direct_c_) return AddEdge(slab, tile, rows, cols, row, col);
    if (slab.last) store_(to, ld, rows, cols, c_, row, col);
  }

  void Multiply(const Slab& slab, int64_t m, int64_t n, int64_t rows, const Lines& ahead, T* to,
                int64_t ld, bool accumulate) const {
    const T* a = slab.a + (m - slab.a_panel) * PanelA();
    int64_t lda = pitch_;
    if (direct_a_) {
      lda = a_.outer.stride;
      a = static_cast<const T*>(a_.data) + m * height_ * lda + slab.k0;
    }
    const bool direct = PanelIsDirect(n), packs = slab.packs_to != nullptr && m == 0 && IsWhole(n);
    const T* packed = direct_b_ ? slab.b : slab.b + n * PanelB();
    const char* b = reinterpret_cast<const char*>(packed);
    int64_t ldb = width_, row_bytes = width_ * int64_t{sizeof(T)};
    if (direct || packs) {
      const int64_t bytes = ElementBytes(b_.type);
      b = static_cast<const char*>(b_.data) + (slab.k0 * b_.k.stride + n * width_) * bytes;
      ldb = b_.k.stride;
      row_bytes = ldb * bytes * kernels_->depth_unit;
    }
    if (packs) {
      const PackingKernel<T> kernel = kernels_->packing[shape_][rows];
      return AddParts(slab, accumulate, [&](int64_t k, int64_t depth, bool add) {
        kernel(depth, a + k, lda, b + k * row_bytes, ldb, slab.packs_to + n * PanelB() + k * width_,
               to, ld, add);
      });
    }
    const int shape = ShapeOf(n);
    if (ahead.first != nullptr && shape == shape_) {
      const FetchingKernel<T> kernel = kernels_->fetching[shape_][rows];
      return AddParts(slab, accumulate, [&](int64_t k, int64_t depth, bool add) {
        kernel(depth, a + k, lda, b + k * row_bytes, ldb, ahead.first + k * ahead.step, ahead.step,
               to, ld, add);
      });
    }
    const auto& micro = direct && b_.type == HLOKIT_BF16 ? kernels_->micro_bf16 : kernels_->micro;
    const MicroKernel<T> kernel = micro[shape][rows];
    AddParts(slab, accumulate, [&](int64_t k, int64_t depth, bool add) {
      kernel(depth, a + k, lda, b + k * row_bytes, ldb, to, ld, add);
    });
  }

  // What tile (m, n), the `index`-th of its panel that is worked on, prefetches of the panel that
  // comes next: each of the first tiles a share of the lines of a packed one.
  Lines LinesAhead(const Slab& slab, int64_t m, int64_t index, int64_t n) const {
    if (kernels_->fetching[shape_][height_] == nullptr) return {};
    if (slab.packs_to != nullptr) return UnpackedAhead(slab, m, n);
    const int64_t at = index * CeilDiv(slab.depth, kernels_->depth_unit) * kLineBytes;
    if (direct_b_ || at >= PanelB() * int64_t{sizeof(T)}) return {};
    const T* panel = n + 1 < slab.end ? slab.b + (n + 1) * PanelB() : slab.b_after;
    if (panel == nullptr) return {};
    return {reinterpret_cast<const char*>(panel) + at, kLineBytes};
  }

  // The tiles below the first one of a panel of B, one for each line of the cache that a row of
  // packed B fills, fetch those lines of the panel that comes next: the pieces of a row, or the
  // rows of which a packed one is made. None for other tiles.
  Lines UnpackedAhead(const Slab& slab, int64_t m, int64_t n) const {
    const int64_t after = n + 1 < slab.end ? n + 1 : slab.after, row = b_.k.stride;
    if (m == 0 || m > width_ * int64_t{sizeof(T)} / kLineBytes || !IsWhole(after)) return {};
    const int64_t bytes = ElementBytes(b_.type), step = row * bytes * kernels_->depth_unit;
    return {static_cast<const char*>(b_.data) + (slab.k0 * row + after * width_) * bytes +
                (m - 1) * (kernels_->depth_unit == 1 ? kLineBytes : row * bytes),
            step};
  }

  // Part by part of the slab, while the tile of C is in the cache: sums of sums round less.
  template <typename Add>  // void(first position, positions, whether there is a sum to add to)
  void AddParts(const Slab& slab, bool accumulate, const Add& add) const {
    const int64_t depth = CeilDiv(slab.depth, kernels_->depth_unit);
    int64_t k = 0;
    do {
      add(k, std::min(kGemmPartDepth, depth - k), accumulate || k > 0);
      k += kGemmPartDepth;
    } while (k < depth);
  }

  // The last, narrower panel of a C that holds the sums itself.
  void AddEdge(const Slab& slab, const T* tile, int64_t rows, int64_t cols, int64_t row,
               int64_t col) const {
    for (int64_t r = 0; r < rows; ++r) {
      T* to = static_cast<T*>(c_.data) + (row + r) * c_.rows.stride + col;
      const T* from = tile + r * width_;
      if (slab.first) {
        std::copy_n(from, cols, to);
        continue;
      }
      for (int64_t j = 0; j < cols; ++j) to[j] += from[j];
    }
  }

  void ReportMemory() const { hlokit_set_error(ctx_, "out of memory in a matrix product"); }

  void* ctx_;
  const GemmKernels<T>* kernels_;
  GemmSource a_, b_;
  GemmTarget c_;
  bool whole_;
  StoreKernel<T> store_ = nullptr;
  int64_t rows_ = 0, cols_ = 0, depth_ = 0;
  int shape_ = 0;                        // which register tile
  int64_t width_ = 0, height_ = 0;       // of a register tile
  int64_t panels_m_ = 0, panels_n_ = 0;  // tiles down and across C
  int64_t block_ = 1;                    // panels of A that are worked on together
  int64_t slabs_ = 1, packed_depth_ = 0;
  int64_t pitch_ = 0;  // of packed A
  bool serial_ = false;
  bool direct_a_ = false;            // A is read in place
  bool direct_b_ = false;            // B is read in place
  bool direct_c_ = false;            // C takes tiles as they are
  PackedForms::Bytes frozen_bytes_;  // of weights packed in an earlier run; frozen_b_ points there
  const T* frozen_b_ = nullptr;      // null: B is packed in this run
  bool keeps_sums_ = false;          // sums lie outside C between slabs
};

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
