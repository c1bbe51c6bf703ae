// The inner loops of Gemm, compiled once per instruction set: the including file defines HLOKIT_ISA
// (a namespace), HLOKIT_VECTOR_BYTES and HLOKIT_ACCUMULATORS (vector registers that a tile may
// fill). No standard C++ headers here: their inline functions would be shared with code for lesser
// machines.
#pragma once

#include "runtime/dot/gemm_internal.h"
#include "runtime/dot/row_dots_internal.h"
#include "runtime/lanes_internal.h"
#include "runtime/vectors_internal.h"

namespace hlokit::HLOKIT_ISA {

constexpr int64_t kRowsAhead = 32;    // of B that a packing kernel asks memory for
constexpr int64_t kFilledAhead = 16;  // and one that packs another panel's
constexpr int64_t kLineBytes = 64;    // of the cache

// What a register tile does besides:
enum class TileTask {
  kNone,
  kPacks,    // leaves the rows of B packed at `packed`
  kFetches,  // prefetches a line of the panel of B that comes next into the second-level cache
  kStreams,  // goes on with the sums in C; prefetches the columns of B some rows further down
  kFills,    // packs rows of the panels of B that come next
};

// What the tasks take; S is the type of the operand B.
template <typename T, typename S>
struct TileExtra {
  T* packed = nullptr;          // kPacks, kFills: where rows go
  const char* ahead = nullptr;  // kFetches, kStreams: the first line that is prefetched
  int64_t ahead_step = 0;       // bytes to that of the next step
  const S* from = nullptr;      // kFills: as RowsToPack
  int64_t ld = 0, count = 0, panels = 0, panel_size = 0;
};

// Prefetches what a row of B has in one panel into the second-level cache.
template <int kVectors, int kLanes, typename S>
HLOKIT_INLINE void FetchRow(const S* row) {
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v)
    if (v * kLanes * sizeof(S) % kLineBytes == 0) __builtin_prefetch(row + v * kLanes, 0, 2);
}

// Packs a row, and prefetches one that comes later.
template <typename T, typename S, int kVectors>
HLOKIT_INLINE void PackRow(const TileExtra<T, S>& extra) {
  constexpr int kLanes = VectorOf<T>::kLanes;
  for (int64_t n = 0; n < extra.panels; ++n) {
    const S* from = extra.from + n * kVectors * kLanes;
    FetchRow<kVectors, kLanes>(from + kFilledAhead * extra.ld);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      Store(extra.packed + n * extra.panel_size + v * kLanes, Load(from + v * kLanes));
  }
}

// The register tile of all micro kernels.
template <typename T, typename B, typename S, int kRows, int kVectors, TileTask kTask>
// sum[r][v] stays in registers over the whole loop: kRows * kVectors accumulators, kVectors columns
// of B and one broadcast element must not exceed the vector registers (HLOKIT_ACCUMULATORS).
HLOKIT_INLINE void FillTile(int64_t k, const T* a, int64_t lda, const B* b, int64_t ldb,
                            TileExtra<T, S> extra, T* c, int64_t ldc, bool accumulate) {
  using Vector = typename VectorOf<T>::Type;
  constexpr int kLanes = VectorOf<T>::kLanes;
  const bool continues = kTask == TileTask::kStreams && accumulate;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = continues ? Load(c + r * ldc + v * kLanes) : Vector{};
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) __builtin_prefetch(c + r * ldc + v * kLanes, 1);
  }
  // Rows to pack are spread over the steps.
  const int64_t every = extra.count > 0 ? k / extra.count : 0;
  int64_t wait = every;
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    if constexpr (kTask == TileTask::kFetches) {
      __builtin_prefetch(extra.ahead, 0, 2);
      extra.ahead += extra.ahead_step;
    }
    if constexpr (kTask == TileTask::kStreams) {
      FetchRow<kVectors, kLanes>(reinterpret_cast<const B*>(extra.ahead));
      extra.ahead += extra.ahead_step;
    }
    if constexpr (kTask == TileTask::kFills) {
      if (--wait == 0) {
        PackRow<T, S, kVectors>(extra);
        extra.from += extra.ld;
        extra.packed += kVectors * kLanes;
        wait = --extra.count > 0 ? every : 0;
      }
    }
    Vector column[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      column[v] = Load(b + v * kLanes);
      if constexpr (kTask == TileTask::kPacks) {
        __builtin_prefetch(b + kRowsAhead * ldb + v * kLanes);
        Store(extra.packed + (p * kVectors + v) * kLanes, column[v]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vector factor = Broadcast(a[r * lda + p]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[r][v] += factor * column[v];
    }
  }
  const bool adds = kTask != TileTask::kStreams && accumulate;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      T* to = c + r * ldc + v * kLanes;
      Store(to, adds ? Load(to) + sum[r][v] : sum[r][v]);
    }
  }
}

template <typename T, typename B, int kRows, int kVectors>
static void Micro(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb, T* c, int64_t ldc,
                  bool accumulate) {
  FillTile<T, B, B, kRows, kVectors, TileTask::kNone>(k, a, lda, static_cast<const B*>(b), ldb, {},
                                                      c, ldc, accumulate);
}

template <typename T, int kRows, int kVectors>
static void MicroFetching(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb,
                          const char* ahead, int64_t ahead_step, T* c, int64_t ldc,
                          bool accumulate) {
  FillTile<T, T, T, kRows, kVectors, TileTask::kFetches>(k, a, lda, static_cast<const T*>(b), ldb,
                                                         {.ahead = ahead, .ahead_step = ahead_step},
                                                         c, ldc, accumulate);
}

template <typename T, typename B, int kRows, int kVectors>
static void MicroPacking(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb, T* packed,
                         T* c, int64_t ldc, bool accumulate) {
  FillTile<T, B, B, kRows, kVectors, TileTask::kPacks>(k, a, lda, static_cast<const B*>(b), ldb,
                                                       {.packed = packed}, c, ldc, accumulate);
}

template <typename T, typename S, int kRows, int kVectors>
static void MicroFilling(int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb,
                         const RowsToPack<T>& rows, T* c, int64_t ldc, bool accumulate) {
  FillTile<T, T, S, kRows, kVectors, TileTask::kFills>(k, a, lda, b, ldb,
                                                       {.packed = rows.to,
                                                        .from = static_cast<const S*>(rows.from),
                                                        .ld = rows.ld,
                                                        .count = rows.count,
                                                        .panels = rows.panels,
                                                        .panel_size = rows.panel_size},
                                                       c, ldc, accumulate);
}

template <typename T, typename B, int kRows, int kVectors>
static void MicroStreaming(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb,
                           const void* ahead, T* c, int64_t ldc, bool continues) {
  FillTile<T, B, B, kRows, kVectors, TileTask::kStreams>(
      k, a, lda, static_cast<const B*>(b), ldb,
      {.ahead = static_cast<const char*>(ahead),
       .ahead_step = ldb * static_cast<int64_t>(sizeof(B))},
      c, ldc, continues);
}

// --- packing ---

template <typename T, typename S>
HLOKIT_INLINE T Convert(S value) {
  if constexpr (__is_class(S)) {
    return ToFloat(value);
  } else {
    return static_cast<T>(value);
  }
}

HLOKIT_INLINE int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// Copies elements that lie side by side; the last vector overlaps the one before it.
template <typename T, typename S>
HLOKIT_INLINE void CopyRun(const S* from, int64_t count, T* to) {
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  if constexpr (kLoadsAsVector<T, S>) {
    if (count >= kLanes) {
      for (int64_t i = 0; i + kLanes <= count; i += kLanes) Store(to + i, Load(from + i));
      if (count % kLanes != 0) Store(to + count - kLanes, Load(from + count - kLanes));
      return;
    }
  }
#if HLOKIT_VECTOR_BYTES == 64
  if constexpr (__is_same(T, float) && __is_same(S, float)) {
    const auto lanes = static_cast<__mmask16>((1u << count) - 1);
    return _mm512_mask_storeu_ps(to, lanes, _mm512_maskz_loadu_ps(lanes, from));
  }
#endif
  for (int64_t i = 0; i < count; ++i) to[i] = Convert<T>(from[i]);
}

constexpr int64_t kMinRun = 4;  // that is copied as one

// Gather of runs, the first of which has `first` elements left, for a map with a table.
template <typename T, typename S>
static void GatherRuns(const S* from, const IndexMap& map, int64_t x0, int64_t first, int64_t count,
                       T* to) {
  int64_t length = first;  // runs after the first one are whole
  for (int64_t i = 0; i < count; length = Least(map.run, count - i)) {
    CopyRun(from + map.table[x0 + i], length, to + i);
    i += length;
  }
}

// to[i] = from[map[x0 + i]] for i in [0, count)
template <typename T, typename S>
static void Gather(const S* from, const IndexMap& map, int64_t x0, int64_t count, T* to) {
  if (map.table == nullptr) {
    from += x0 * map.stride;
    if (map.stride == 1) {
      CopyRun(from, count, to);
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = Convert<T>(from[i * map.stride]);
    }
  } else if (map.run < kMinRun) {
    for (int64_t i = 0; i < count; ++i) to[i] = Convert<T>(from[map.table[x0 + i]]);
  } else {
    GatherRuns(from, map, x0, Least(RunFrom(map, x0), count), count, to);
  }
}

// Walks source positions `lines` as lines of `points`, each gathered into a row of `to`; side by
// side points first. The caller picks which of the two dimensions are the lines.
template <typename T, typename S>
static void GatherLines(const S* from, const IndexMap& lines, int64_t l0, int64_t line_count,
                        const IndexMap& points, int64_t p0, int64_t point_count, T* to,
                        int64_t pitch) {
  if (points.table == nullptr && points.stride == 1) {
    from += p0;
    for (int64_t l = 0; l < line_count; ++l)
      CopyRun(from + OffsetAt(lines, l0 + l), point_count, to + l * pitch);
    return;
  }
  if (points.table != nullptr && points.run >= kMinRun) {
    const int64_t first = Least(RunFrom(points, p0), point_count);
    for (int64_t l = 0; l < line_count; ++l)
      GatherRuns(from + OffsetAt(lines, l0 + l), points, p0, first, point_count, to + l * pitch);
    return;
  }
  for (int64_t l = 0; l < line_count; ++l) {
    Gather(from + OffsetAt(lines, l0 + l), points, p0, point_count, to + l * pitch);
  }
}

template <typename T>
HLOKIT_INLINE void TransposeTile(const T (*from)[VectorOf<T>::kLanes], T* to, int64_t pitch) {
  constexpr int kLanes = VectorOf<T>::kLanes;
  typename Lanes<T, kLanes>::Type rows[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = LoadLanes<kLanes>(from[i]);
  TransposeRows<T, kLanes>(rows);
  for (int i = 0; i < kLanes; ++i) StoreLanes<kLanes>(to + i * pitch, rows[i]);
}

// Reads a tile of `points` as rows, each along `lines` from position l on; what is missing of
// it is zero.
template <typename T, typename S>
HLOKIT_INLINE void LoadSquare(const S* from, const IndexMap& lines, int64_t l, int64_t height,
                              const IndexMap& points, int64_t p, int64_t width,
                              typename Lanes<T, VectorOf<T>::kLanes>::Type* rows) {
  constexpr int kEdge = VectorOf<T>::kLanes;
  if constexpr (kLoadsAsVector<T, S>) {
    if (height == kEdge && RunFrom(lines, l) >= kEdge) {
      from += OffsetAt(lines, l);
      if (width == kEdge) {
#pragma GCC unroll 16
        for (int j = 0; j < kEdge; ++j) rows[j] = Load(from + OffsetAt(points, p + j));
      } else {
        for (int j = 0; j < kEdge; ++j) rows[j] = typename Lanes<T, kEdge>::Type{};
        for (int64_t j = 0; j < width; ++j) rows[j] = Load(from + OffsetAt(points, p + j));
      }
      return;
    }
  }
  alignas(64) T tile[kEdge][kEdge] = {};
  for (int64_t j = 0; j < width; ++j) {
    Gather(from + OffsetAt(points, p + j), lines, l, height, tile[j]);
  }
  for (int j = 0; j < kEdge; ++j) rows[j] = LoadLanes<kEdge>(tile[j]);
}

// As GatherLines, read along `lines` (whose positions lie side by side) in tiles of one vector's
// lanes.
template <typename T, typename S>
static void GatherTransposed(const S* from, const IndexMap& lines, int64_t l0, int64_t line_count,
                             const IndexMap& points, int64_t p0, int64_t point_count, T* to,
                             int64_t pitch) {
  constexpr int kEdge = VectorOf<T>::kLanes;
  typename Lanes<T, kEdge>::Type rows[kEdge];
  for (int64_t l = 0; l < line_count; l += kEdge) {
    const int64_t height = Least(kEdge, line_count - l);
    for (int64_t p = 0; p < point_count; p += kEdge) {
      const int64_t width = Least(kEdge, point_count - p);
      LoadSquare<T>(from, lines, l0 + l, height, points, p0 + p, width, rows);
      TransposeRows<T, kEdge>(rows);
      T* corner = to + l * pitch + p;
      for (int64_t i = 0; i < height; ++i) {
        if (width == kEdge || p + kEdge <= pitch) {  // zeros behind what there is
          StoreLanes<kEdge>(corner + i * pitch, rows[i]);
        } else {
          for (int64_t j = 0; j < width; ++j) corner[i * pitch + j] = rows[i][j];
        }
      }
    }
  }
}

template <typename T, typename S>
static void PackA(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                  int64_t pitch, T* to) {
  const S* from = static_cast<const S*>(source.data);
  const bool transposed = HasRuns(source.outer) && !HasRuns(source.k);
  (transposed ? GatherTransposed<T, S> : GatherLines<T, S>)(from, source.outer, x0, count, source.k,
                                                            k0, depth, to, pitch);
  const int64_t positive = source.negate_from > k0 ? source.negate_from - k0 : 0;
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t p = positive; p < depth; ++p) to[r * pitch + p] = -to[r * pitch + p];
  }
}

#if HLOKIT_VECTOR_BYTES == 64
// A vector of a row that is made of runs no shorter than itself: pieces of two of them.
struct TwoRuns {
  int64_t first, second;  // offsets, less the lanes before the piece
  __mmask16 first_lanes, second_lanes;
};

// Packs rows of B whose columns lie together in runs, as pixels of pictures do: each vector of a
// panel reads the same lanes of every row. False where it is not made for that.
HLOKIT_INLINE bool PackRuns(const GemmSource& source, int64_t x0, int64_t count, int64_t k0,
                            int64_t depth, int64_t pitch, float* to) {
  constexpr int64_t kLanes = VectorOf<float>::kLanes;
  constexpr int64_t kMaxVectors = 8;
  const int64_t vectors = pitch / kLanes;
  if (source.outer.table == nullptr || source.outer.run < kLanes || LiesAlongK(source) ||
      source.negate_from < k0 + depth || vectors > kMaxVectors)
    return false;
  TwoRuns runs[kMaxVectors];
  for (int64_t v = 0; v < vectors; ++v) {
    const int64_t lane = v * kLanes, left = count > lane ? Least(kLanes, count - lane) : 0;
    runs[v] = {};
    if (left == 0) continue;
    const int64_t first = Least(RunFrom(source.outer, x0 + lane), left);
    runs[v].first = source.outer.table[x0 + lane];
    runs[v].first_lanes = static_cast<__mmask16>((1u << first) - 1);
    if (first == left) continue;
    runs[v].second = source.outer.table[x0 + lane + first] - first;
    runs[v].second_lanes = static_cast<__mmask16>((1u << left) - (1u << first));
  }
  for (int64_t p = 0; p < depth; ++p, to += pitch) {
    const float* row = static_cast<const float*>(source.data) + OffsetAt(source.k, k0 + p);
    for (int64_t v = 0; v < vectors; ++v) {
      const __m512 first = _mm512_maskz_loadu_ps(runs[v].first_lanes, row + runs[v].first);
      _mm512_storeu_ps(to + v * kLanes,
                       _mm512_mask_loadu_ps(first, runs[v].second_lanes, row + runs[v].second));
    }
  }
  return true;
}
#endif

template <typename T, typename S>
static void PackB(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                  int64_t pitch, T* to) {
#if HLOKIT_VECTOR_BYTES == 64
  if constexpr (__is_same(T, float) && __is_same(S, float)) {
    if (PackRuns(source, x0, count, k0, depth, pitch, to)) return;
  }
#endif
  const S* from = static_cast<const S*>(source.data);
  (LiesAlongK(source) ? GatherTransposed<T, S> : GatherLines<T, S>)(from, source.k, k0, depth,
                                                                    source.outer, x0, count, to,
                                                                    pitch);
  for (int64_t p = 0; p < depth; ++p) {
    const bool negative = k0 + p >= source.negate_from;
    T* row = to + p * pitch;
    if (negative) {
      for (int64_t j = 0; j < count; ++j) row[j] = -row[j];
    }
    for (int64_t j = count; j < pitch; ++j) row[j] = T{};
  }
}

// --- storing ---

template <typename D, typename T>
HLOKIT_INLINE D Round(T value) {
  if constexpr (__is_same(D, Bfloat16)) {
    return ToBfloat16(static_cast<float>(value));
  } else if constexpr (__is_same(D, Half)) {
    return ToHalf(static_cast<float>(value));
  } else {
    return static_cast<D>(value);
  }
}

template <typename T, typename D>
static void StoreTile(const T* tile, int64_t ld, int64_t rows, int64_t cols,
                      const GemmTarget& target, int64_t row, int64_t col) {
  for (int64_t r = 0; r < rows; ++r) {
    D* to = static_cast<D*>(target.data) + OffsetAt(target.rows, row + r);
    const T* from = tile + r * ld;
    if (target.cols.table != nullptr) {
      for (int64_t j = 0; j < cols; ++j) to[target.cols.table[col + j]] = Round<D>(from[j]);
      continue;
    }
    const int64_t stride = target.cols.stride;
    to += col * stride;
    if (stride == 1) {
      for (int64_t j = 0; j < cols; ++j) to[j] = Round<D>(from[j]);
    } else {
      for (int64_t j = 0; j < cols; ++j) to[j * stride] = Round<D>(from[j]);
    }
  }
}

// --- tables ---

// So that what a register tile of B needs of one slab fits the second-level cache beside A.
template <typename T>
constexpr int kSlabDepth = 64 * HLOKIT_VECTOR_BYTES / sizeof(T);

#define HLOKIT_BYTE_CASES(Instance)    \
  case HLOKIT_S8:                      \
    return &Instance<T, SignedByte>;   \
  case HLOKIT_U8:                      \
    return &Instance<T, UnsignedByte>; \
  case HLOKIT_F8E5M2:                  \
    return &Instance<T, Float8E5M2>;   \
  case HLOKIT_F8E4M3FN:                \
    return &Instance<T, Float8E4M3Fn>;

// Picks the instance of a packing or storing kernel for an element type of the accumulator's
// family, and those of more `cases`.
#define HLOKIT_DEFINE_CHOICE(name, KernelType, Instance, cases)  \
  template <typename T>                                          \
  static KernelType<T> name(int32_t type) {                      \
    if constexpr (__is_same(T, float) || __is_same(T, double)) { \
      switch (type) {                                            \
        case HLOKIT_F32:                                         \
          return &Instance<T, float>;                            \
        case HLOKIT_BF16:                                        \
          return &Instance<T, Bfloat16>;                         \
        case HLOKIT_F16:                                         \
          return &Instance<T, Half>;                             \
        case HLOKIT_F64:                                         \
          return &Instance<T, double>;                           \
          cases default : return nullptr;                        \
      }                                                          \
    } else {                                                     \
      switch (type) {                                            \
        case HLOKIT_S8:                                          \
          return &Instance<T, int8_t>;                           \
        case HLOKIT_U8:                                          \
          return &Instance<T, uint8_t>;                          \
        case HLOKIT_S16:                                         \
          return &Instance<T, int16_t>;                          \
        case HLOKIT_U16:                                         \
          return &Instance<T, uint16_t>;                         \
        case HLOKIT_S32:                                         \
          return &Instance<T, int32_t>;                          \
        case HLOKIT_U32:                                         \
          return &Instance<T, uint32_t>;                         \
        case HLOKIT_S64:                                         \
          return &Instance<T, int64_t>;                          \
        case HLOKIT_U64:                                         \
          return &Instance<T, uint64_t>;                         \
        default:                                                 \
          return nullptr;                                        \
      }                                                          \
    }                                                            \
  }
HLOKIT_DEFINE_CHOICE(ChoosePackA, PackKernel, PackA, HLOKIT_BYTE_CASES(PackA))
HLOKIT_DEFINE_CHOICE(ChoosePackB, PackKernel, PackB, HLOKIT_BYTE_CASES(PackB))
HLOKIT_DEFINE_CHOICE(ChooseStore, StoreKernel, StoreTile, )
#undef HLOKIT_DEFINE_CHOICE
#undef HLOKIT_BYTE_CASES

constexpr int RowsFor(int vectors) {
  const int rows = HLOKIT_ACCUMULATORS / vectors;
  return rows > kGemmMaxRows ? kGemmMaxRows : rows;
}

template <typename T, typename B, int kVectors, int kRows>
constexpr void FillMicro(MicroKernel<T>* row) {
  row[kRows] = &Micro<T, B, kRows, kVectors>;
  if constexpr (kRows > 1) FillMicro<T, B, kVectors, kRows - 1>(row);
}

template <typename T, int kVectors, int kRows>
constexpr void FillFetching(FetchingKernel<T>* fetching) {
  fetching[kRows] = &MicroFetching<T, kRows, kVectors>;
  if constexpr (kRows > 1) FillFetching<T, kVectors, kRows - 1>(fetching);
}

template <typename T, typename B, int kVectors, int kRows>
constexpr void FillPacking(FreshKernels<T>* fresh) {
  fresh->packing[0][kRows] = &MicroPacking<T, B, kRows, kVectors>;
  fresh->filling[0][kRows] = &MicroFilling<T, B, kRows, kVectors>;
  if constexpr (kRows > 1) FillPacking<T, B, kVectors, kRows - 1>(fresh);
}

template <typename T, typename B, int kVectors, int kRows>
constexpr void FillStreaming(StreamingKernel<T>* row) {
  row[kRows] = &MicroStreaming<T, B, kRows, kVectors>;
  if constexpr (kRows > 1) FillStreaming<T, B, kVectors, kRows - 1>(row);
}

template <typename T, typename B>
constexpr void FillStreamingShapes(StreamingKernel<T> (*shapes)[kGemmMaxRows + 1]) {
  FillStreaming<T, B, 2, RowsFor(2)>(shapes[0]);
  FillStreaming<T, B, 4, RowsFor(4)>(shapes[1]);
  FillStreaming<T, B, 8, RowsFor(8)>(shapes[2]);
}

template <typename T, typename B>
constexpr void FillFresh(FreshKernels<T>* fresh) {
  FillPacking<T, B, 2, RowsFor(2)>(fresh);
  FillStreamingShapes<T, B>(fresh->streaming);
}

template <typename B>
constexpr void FillBytes(int32_t type, GemmKernels<float>* kernels) {
  FillStreamingShapes<float, B>(kernels->streaming_bytes[ByteTypeOf(type)]);
  FillRowDots<float, B>(kernels->row_dots_bytes[ByteTypeOf(type)]);
}

template <typename T>
constexpr GemmKernels<T> MakeKernels() {
  GemmKernels<T> kernels = {};
  kernels.depth_unit = 1;
  kernels.lanes = VectorOf<T>::kLanes;
  kernels.slab_depth = kSlabDepth<T>;
  const int vectors[kGemmShapes] = {2, 4, 8, 1};
  for (int s = 0; s < kGemmShapes; ++s) {
    kernels.vectors[s] = vectors[s];
    kernels.max_rows[s] = RowsFor(vectors[s]);
  }
  FillMicro<T, T, 2, RowsFor(2)>(kernels.micro[0]);
  FillMicro<T, T, 4, RowsFor(4)>(kernels.micro[1]);
  FillMicro<T, T, 8, RowsFor(8)>(kernels.micro[2]);
  FillMicro<T, T, 1, RowsFor(1)>(kernels.micro[kGemmNarrow]);
  if constexpr (__is_same(T, float)) {
    FillMicro<T, Bfloat16, 2, RowsFor(2)>(kernels.micro_bf16[0]);
    FillMicro<T, Bfloat16, 4, RowsFor(4)>(kernels.micro_bf16[1]);
    FillMicro<T, Bfloat16, 8, RowsFor(8)>(kernels.micro_bf16[2]);
    FillMicro<T, Bfloat16, 1, RowsFor(1)>(kernels.micro_bf16[kGemmNarrow]);
    FillRowDots<T, Bfloat16>(kernels.row_dots_bf16);
    FillFetching<T, 2, RowsFor(2)>(kernels.fetching[0]);
    FillFresh<T, T>(&kernels.fresh);
    FillFresh<T, Bfloat16>(&kernels.fresh_bf16);
    FillBytes<SignedByte>(HLOKIT_S8, &kernels);
    FillBytes<UnsignedByte>(HLOKIT_U8, &kernels);
    FillBytes<Float8E4M3Fn>(HLOKIT_F8E4M3FN, &kernels);
    FillBytes<Float8E5M2>(HLOKIT_F8E5M2, &kernels);
  }
  if constexpr (__is_same(T, float) || __is_same(T, double)) FillRowDots<T, T>(kernels.row_dots);
  kernels.pack_a = &ChoosePackA<T>;
  kernels.pack_b = &ChoosePackB<T>;
  kernels.store = &ChooseStore<T>;
  return kernels;
}

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
