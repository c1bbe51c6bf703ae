// A matrix product, its operands, sizes and register tiles: what all ways of running share
// (gemm_product.cc, gemm_fresh.cc).
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/context.h"
#include "runtime/dot/finish_internal.h"
#include "runtime/dot/frozen_arrays.h"
#include "runtime/dot/gemm_internal.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"

namespace hlokit {

constexpr int64_t kPackedTogether = 8;            // panels of B, and
constexpr int64_t kRowsTogether = 4;              // rows of it, or
constexpr int64_t kTransposedTogether = 16;       // rows that are transposed
constexpr int64_t kMinStreamedWeights = 1 << 14;  // of a byte, that are not packed
constexpr int64_t kStreamedBytes = 1 << 20;      // of B, which the second-level cache does not hold
constexpr int64_t kMaxUnpackedBytes = 24 << 10;  // of B that many rows of A read in place
constexpr int64_t kFewTiles = 6;                 // are too few for the threads where sums are deep:
constexpr int64_t kDeepPart = 512;               // positions of k at least that make a part, and
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kLineBytes = 64;
constexpr int64_t kPitchUnit = 16;      // elements that depths of slabs are multiples of
constexpr int64_t kStreamingRows = 20;  // of A at most where B is read in place from memory

template <typename T>
class Product {
 public:
  // `whole`: not a part of another's sums.
  Product(void* ctx, const GemmKernels<T>& kernels, const GemmSource& a, const GemmSource& b,
          const GemmTarget& c, bool whole = true)
      : ctx_(ctx), kernels_(&kernels), a_(a), b_(b), c_(c), whole_(whole) {}

  void Run();

 private:
  static constexpr int32_t kOwnType = sizeof(T) == 4 ? (T(0.5) != T(0) ? HLOKIT_F32 : HLOKIT_U32)
                                                     : (T(0.5) != T(0) ? HLOKIT_F64 : HLOKIT_U64);

  // Computing C transposed pays where the padding of narrow columns would be larger, or C is stored
  // by columns.
  bool Swapped() const {
    const double padded = Padded(c_.cols.size) * c_.rows.size;
    const double swapped = Padded(c_.rows.size) * c_.cols.size;
    if (swapped != padded && (swapped < 0.8 * padded || padded < 0.8 * swapped))
      return swapped < padded && !(TransposesRows() && c_.cols.size > MaxDotRows(a_.k.size));
    return c_.rows.table == nullptr && c_.rows.stride == 1 && c_.cols.stride != 1 &&
           c_.rows.size > 1;
  }

  // Whether A, as columns of the product that computes C transposed, would be transposed to be
  // packed: that takes longer than what padding costs.
  bool TransposesRows() const { return kernels_->depth_unit == 1 && LiesAlongK(a_); }

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
  // repay packing, or the product is small and the first-level cache holds B as it lies.
  bool BReadable() {
    if (b_.outer.table != nullptr || b_.outer.stride != 1 || b_.k.table != nullptr) return false;
    const int64_t span_bytes = depth_ * b_.k.stride * ElementBytes(b_.type);
    const bool in_cache = serial_ && span_bytes <= kMaxUnpackedBytes;
    if (b_.negate_from < depth_ || (panels_m_ > 2 && !in_cache)) return false;
    if (b_.type == HLOKIT_BF16) return kernels_->micro_bf16[0][1] != nullptr;
    if (IsOfBytes()) return StreamingPays() && Streaming() != nullptr;
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
           depth_ % kernels_->depth_unit == 0 &&
           kernels_->fresh.packing[shape_][height_] != nullptr;
  }

  // Kernels that read B's rows where they lie.
  const FreshKernels<T>& Fresh() const {
    return b_.type == HLOKIT_BF16 && kernels_->depth_unit == 1 ? kernels_->fresh_bf16
                                                               : kernels_->fresh;
  }

  // Whether B is widened from bytes to f32.
  bool IsOfBytes() const { return kOwnType == HLOKIT_F32 && ByteTypeOf(b_.type) >= 0; }

  // Kernels that read pieces of B's rows from memory, by rows of A; null where there are none.
  const StreamingKernel<T>* Streaming() const {
    const StreamingKernel<T>* of_shape =
        IsOfBytes() ? kernels_->streaming_bytes[ByteTypeOf(b_.type)][shape_]
                    : Fresh().streaming[shape_];
    return of_shape[height_] == nullptr ? nullptr : of_shape;
  }

  // Whether few rows of A multiply a B that the second-level cache does not hold, or one of bytes,
  // which cost more to widen ahead than to read in place.
  bool StreamingPays() const {
    if (rows_ > kStreamingRows) return false;
    if (IsOfBytes()) return depth_ * cols_ >= kMinStreamedWeights;
    return !serial_ && depth_ * cols_ * ElementBytes(b_.type) >= kStreamedBytes;
  }

  // Whether tiles can pack the panel that comes next meanwhile.
  bool FillsNext() const {
    const bool known = b_.type == kOwnType || b_.type == HLOKIT_BF16;
    return frozen_b_ == nullptr && known && b_.outer.table == nullptr && b_.outer.stride == 1 &&
           b_.k.table == nullptr && b_.negate_from >= depth_ &&
           Fresh().filling[shape_][height_] != nullptr;
  }

  // Whether B, read in place, comes from memory in pieces of rows that lie apart.
  bool Streams() const {
    return direct_b_ && frozen_b_ == nullptr && StreamingPays() && Streaming() != nullptr;
  }

  bool IsDeep() const {
    return whole_ && !serial_ && panels_m_ * panels_n_ <= kFewTiles && depth_ >= 2 * kDeepPart &&
           kernels_->depth_unit == 1 && a_.k.table == nullptr && b_.k.table == nullptr &&
           a_.negate_from >= depth_ && b_.negate_from >= depth_;
  }

  void FindFrozen(int64_t whole_b);

  void PackAll(T* packed_b) const;

  void RunDeep() const;

  static GemmSource Part(GemmSource source, int64_t from, int64_t to) {
    source.data =
        static_cast<const char*>(source.data) + from * source.k.stride * ElementBytes(source.type);
    source.k.size = to - from;
    return source;
  }

  void RunSlabs();

  void FillBlocks(const Slab& slab) const;

  void RunTall(int64_t whole_b);

  void RunBlock(int64_t first, int64_t end, const T* packed_b) const;

  void RunWide();

  // Panels [first, end) of B against [m, m_end) of A; the thread's next ones begin at `after`.
  struct Panels {
    int64_t first, end, m, m_end, after;
  };

  void RunPanels(const Panels& panels, const T* packed_a, int64_t slab_a) const;

  void RunStreamed();

  void StreamPanels(int64_t first, int64_t end, const T* packed_a, int64_t slab_a) const;

  void StreamPart(const Slab& slab, int64_t first, int64_t end, int64_t k0, int64_t k1, T* to,
                  int64_t ld) const;

  void StreamTile(const Slab& slab, int64_t m, int64_t n, int64_t k, int64_t depth, T* to,
                  int64_t ld, bool continues) const;

  // A register tile's rows of A in the slab, and the distance between them.
  std::pair<const T*, int64_t> RowsOf(const Slab& slab, int64_t m) const {
    if (!direct_a_) return {slab.a + (m - slab.a_panel) * PanelA(), pitch_};
    const int64_t lda = a_.outer.stride;
    return {static_cast<const T*>(a_.data) + m * height_ * lda + slab.k0, lda};
  }

  void PackAllRows(T* packed_a) const {
    for (int64_t i = 0; i < slabs_ * panels_m_ && !direct_a_; ++i)
      PackRows(SlabAt(i / panels_m_), i % panels_m_, packed_a + i * PanelA());
  }

  // Calls work(first, next, packed_a, slab_a) on each thread that gets one of `groups`, its first;
  // the others are dealt by `next`. The thread has packed A for itself, its slabs `slab_a` apart.
  template <typename Work>
  void WithRowsOfItsOwn(int64_t groups, const Work& work) const {
    std::atomic<int64_t> next = 0;
    ParallelFor(ctx_, hlokit_num_threads(ctx_), 1, [&](int64_t, int64_t) {
      const int64_t first = next.fetch_add(1, std::memory_order_relaxed);
      if (first >= groups) return;
      const int64_t slab_a = direct_a_ ? 0 : panels_m_ * PanelA();
      Scratch scratch(slabs_ * slab_a * sizeof(T));
      if (scratch.data() == nullptr) return ReportMemory();
      T* packed_a = scratch.as<T>();
      PackAllRows(packed_a);
      work(first, next, packed_a, slab_a);
    });
  }

  // Panels [first, end) of B in one slab.
  struct Piece {
    int64_t slab, first, end;
  };

  void RunFilling();

  void PackHere(Slab& slab, const Piece& at, T* packed_b) const;

  bool FillPiece(const Slab& slab, const Piece& at, const Piece& after, T* then) const;

  // Panels that tiles pack, and how far they are.
  struct Filling {
    Piece piece;
    int64_t k0, depth;
    T* to;
    int64_t done = 0, until = 0;  // rows; so many when the tile is done
  };

  RowsToPack<T> RowsAt(const Filling& filling, int64_t count) const {
    const int64_t ld = b_.k.stride;
    const char* from =
        static_cast<const char*>(b_.data) +
        ((filling.k0 + filling.done) * ld + filling.piece.first * width_) * ElementBytes(b_.type);
    return {from,
            ld,
            count,
            filling.to + filling.done * width_,
            filling.piece.end - filling.piece.first,
            PanelB()};
  }

  void FillRest(const Filling& filling) const;

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

  // The same where all of B stays in the second-level cache: C is written line by line, and what is
  // added to it is read so, which memory does faster than pieces of lines.
  void FillLines(const Slab& slab, int64_t m0, int64_t m1) const {
    for (int64_t m = m0; m < m1; ++m)
      for (int64_t n = 0; n < panels_n_; ++n) FillTile(slab, m, n, {});
  }

  void FillTile(const Slab& slab, int64_t m, int64_t n, const Lines& ahead,
                Filling* filling = nullptr) const {
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
    if (finish_ != nullptr && slab.last) FetchResidual(row, rows, col);
    Multiply(slab, m, n, rows, ahead, filling, to, ld, !slab.first && to != tile);
    if (direct_c_) {
      if (!in_place) AddEdge(slab, tile, rows, cols, row, col);
      if (slab.last) FinishTile(row, rows, col, cols);
      return;
    }
    if (slab.last) store_(to, ld, rows, cols, c_, row, col);
  }

  // Whether tiles of C are finished as they are summed.
  bool Finishes(bool swapped) const {
    return c_.finish != nullptr && direct_c_ && !swapped && kOwnType == HLOKIT_F32;
  }

  // Asks memory for what is added to a tile.
  void FetchResidual(int64_t row, int64_t rows, int64_t col) const {
    const int64_t ld = c_.rows.stride;
    const float* at = ResidualAt(*c_.finish, static_cast<const float*>(c_.data) + row * ld + col);
    for (int64_t r = 0; r < rows && at != nullptr; ++r) {
      for (int64_t j = 0; j < width_; j += kLineBytes / int64_t{sizeof(float)})
        __builtin_prefetch(at + r * ld + j);
    }
  }

  void FinishTile(int64_t row, int64_t rows, int64_t col, int64_t cols) const {
    if (finish_ == nullptr) return;
    if (c_.finish->function != nullptr)
      return c_.finish->function(c_.finish->arrays, row, rows, col, cols);
    float* to = static_cast<float*>(c_.data) + row * c_.rows.stride + col;
    finish_(*c_.finish, to, c_.rows.stride, rows, cols, col);
  }

  void Multiply(const Slab& slab, int64_t m, int64_t n, int64_t rows, const Lines& ahead,
                Filling* filling, T* to, int64_t ld, bool accumulate) const {
    // Not a structured binding: lambdas capture them.
    const T* a = RowsOf(slab, m).first;
    const int64_t lda = RowsOf(slab, m).second;
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
      const PackingKernel<T> kernel = Fresh().packing[shape_][rows];
      return AddParts(slab, accumulate, [&](int64_t k, int64_t depth, bool add) {
        kernel(depth, a + k, lda, b + k * row_bytes, ldb, slab.packs_to + n * PanelB() + k * width_,
               to, ld, add);
      });
    }
    const int shape = ShapeOf(n);
    if (filling != nullptr && shape == shape_) {
      const FillingKernel<T> kernel = Fresh().filling[shape_][rows];
      const int64_t begin = filling->done, share = filling->until - begin;
      return AddParts(slab, accumulate, [&](int64_t k, int64_t depth, bool add) {
        const int64_t count =
            std::min(begin + share * (k + depth) / slab.depth - filling->done, depth);
        kernel(depth, a + k, lda, packed + k * width_, width_, RowsAt(*filling, count), to, ld,
               add);
        filling->done += count;
      });
    }
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
  FinishRowsKernel finish_ = nullptr;  // null: nothing, or not by tiles
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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
