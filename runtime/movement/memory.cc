// Strided copies: transposes, changes of layout, slices.
//
// The dimensions of a copy are sorted by the stride of the result and merged where both sides are
// contiguous. f32[8,64,100] with its last two dimensions transposed is then 8 planes of 64 x 100.
// If the innermost dimension is dense on both sides, a plane is copied line by line. If the two
// sides differ, the plane is "crossed": it is transposed tile by tile, a tile being one cache line
// squared (16 x 16 of f32), so that each line is read and written once.
//
// Three ways of writing: directly; with non-temporal stores, for results of 8 MB and more, which
// saves reading the target (a third of the traffic); through a buffer of 64 rows, where the target
// lines would share cache sets and evict each other before they are complete.
// Cost: linear; large copies run at the speed of memory. Stripes are distributed to the threads.
#include "runtime/movement/memory.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "runtime/context.h"
#include "runtime/cpu_features.h"
#include "runtime/parallel.h"
#include "runtime/transpose/tile_transpose_internal.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace hlokit {
namespace {

constexpr int64_t kParallelBytes = 64 << 10;  // the least that a thread should move

struct Wide {
  uint64_t words[2];
};  // a 16-byte element

// Bytes of a result that would evict everything else from the caches.
constexpr int64_t kNonTemporal = 8 << 20;
constexpr int64_t kLastCache = 32 << 20;
// Bytes of a result that fits the first-level cache together with its source.
constexpr int64_t kNearCache = 16 << 10;
constexpr int64_t kAheadBytes = 12 << 10, kFollowedBytes = 2 << 10;
// A stripe that is transposed through a buffer: its rows, and the bytes of a row per step.
constexpr int64_t kStripe = 64, kRunBytes = 512;
// Addresses at multiples of it map to at most four of the 64 sets of a first-level cache.
constexpr int64_t kSetsBytes = 1 << 10;

// Elements of one cache line.
template <typename T>
constexpr int64_t TileEdge() {
  return 64 / sizeof(T);
}

// Below so many rows or columns there is no tile of vectors.
constexpr int64_t kFew = 8;

// How the lines of a result are written.
enum class Way { kDirect, kBuffer, kNonTemporal };

using Dims = std::vector<HlokitCopyDim>;

// Without sizes of one, outermost destination stride first, neighbours merged.
Dims Simplified(const HlokitCopyDesc& desc) {
  Dims dims;
  for (int64_t i = 0; i < desc.rank; ++i) {
    if (desc.dims[i].size != 1) dims.push_back(desc.dims[i]);
  }
  std::stable_sort(dims.begin(), dims.end(),
                   [](const auto& a, const auto& b) { return a.to > b.to; });
  Dims merged;
  for (const HlokitCopyDim& d : dims) {
    HlokitCopyDim* last = merged.empty() ? nullptr : &merged.back();
    if (last != nullptr && last->from == d.from * d.size && last->to == d.to * d.size) {
      *last = {last->size * d.size, d.from, d.to};
    } else {
      merged.push_back(d);
    }
  }
  return merged;
}

template <typename T>
void CopyLine(const T* from, T* to, const HlokitCopyDim& d) {
  if (d.to == 1 && d.from == 1) {
    memcpy(to, from, d.size * sizeof(T));
  } else if (d.to == 1 && d.from == 0) {
    std::fill_n(to, d.size, *from);
  } else if (d.to == 1) {
    for (int64_t i = 0; i < d.size; ++i) to[i] = from[i * d.from];
  } else {
    for (int64_t i = 0; i < d.size; ++i) to[i * d.to] = from[i * d.from];
  }
}

// Elements of the dimension `d` from `first` on, at most `most`.
HlokitCopyDim Part(const HlokitCopyDim& d, int64_t first, int64_t most) {
  return {std::min(most, d.size - first), d.from, d.to};
}

// The kernels that transpose whole tiles, and parts of tiles.
struct Movers {
  TransposeTile tile;
  TransposePart part;
};

template <typename T>
Movers FindMovers(bool non_temporal) {
  constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  const TileTransposeKernels& kernels = HLOKIT_OF_BEST_ISA(kTileTransposes);
  const bool streams = non_temporal && kernels.non_temporal[kWidth] != nullptr;
  return {streams ? kernels.non_temporal[kWidth] : kernels.by_width[kWidth], kernels.part[kWidth]};
}

// Orders non-temporal stores before the stores that tell other threads about them.
void Fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Copies with non-temporal stores: the target is neither read first nor left in the cache.
// Prefetches the source `ahead` bytes further, if that is not 0. The caller fences.
void CopyNonTemporal(const char* from, char* to, int64_t bytes, int64_t ahead = 0) {
#if defined(__x86_64__)
  const int64_t head = std::min<int64_t>(bytes, -reinterpret_cast<intptr_t>(to) & 63);
  memcpy(to, from, head);
  int64_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    if (ahead != 0)
      _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<intptr_t>(from) + i + ahead),
                   _MM_HINT_T0);
    for (int64_t j = i; j < i + 64; j += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + j),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + j)));
    }
  }
  memcpy(to + i, from + i, bytes - i);
#else
  memcpy(to, from, bytes);
#endif
}

// Transposes a tile. Elements without a vector kernel go through a buffer on the stack, so that
// lines are read and written whole even where their addresses share cache sets.
template <typename T>
void CopyTile(const Movers& move, const T* from, T* to, const HlokitCopyDim& rows,
              const HlokitCopyDim& cols) {
  constexpr int64_t kEdge = TileEdge<T>();
  alignas(64) T tile[kEdge][kEdge];
  if (sizeof(T) <= 8 && cols.to == 1) {
    if (rows.size == kEdge && cols.size == kEdge) return move.tile(from, cols.from, to, rows.to);
    return move.part(from, cols.from, to, rows.to, cols.size, rows.size);
  }
  if (rows.size == kEdge && cols.size == kEdge && cols.to == 1) {
    for (int64_t j = 0; j < kEdge; ++j) memcpy(tile[j], from + j * cols.from, sizeof(tile[j]));
    for (int64_t i = 0; i < kEdge; ++i) {
      for (int64_t j = 0; j < kEdge; ++j) to[i * rows.to + j] = tile[j][i];
    }
    return;
  }
  for (int64_t j = 0; j < cols.size; ++j) {
    for (int64_t i = 0; i < rows.size; ++i) to[i * rows.to + j * cols.to] = from[j * cols.from + i];
  }
}

// A stripe of a plane whose rows are dense in the source (rows.from == 1) and whose columns are
// dense in the destination: tile by tile, directly.
template <typename T>
void CopyStripeByTiles(const Movers& move, const T* from, T* to, const HlokitCopyDim& rows,
                       const HlokitCopyDim& cols) {
  constexpr int64_t kEdge = TileEdge<T>();
  if (sizeof(T) <= 8 && std::min(rows.size, cols.size) < kFew && cols.to == 1)
    return move.part(from, cols.from, to, rows.to, cols.size, rows.size);
  for (int64_t c = 0; c < cols.size; c += kEdge) {
    for (int64_t r = 0; r < rows.size; r += kEdge) {
      CopyTile(move, from + r + c * cols.from, to + r * rows.to + c * cols.to, Part(rows, r, kEdge),
               Part(cols, c, kEdge));
    }
  }
}

// The same through a buffer, from which eight lines (kRunBytes) of a row are written at a time.
// Without it, target lines that share cache sets would evict each other before they are complete.
template <typename T>
void CopyStripeByBuffer(const Movers& move, const T* from, T* to, const HlokitCopyDim& rows,
                        const HlokitCopyDim& cols) {
  constexpr int64_t kRun = kRunBytes / int64_t{sizeof(T)};
  alignas(64) T buffer[kStripe * kRun];
  for (int64_t c = 0; c < cols.size; c += kRun) {
    const int64_t run = std::min(kRun, cols.size - c);
    CopyStripeByTiles(move, from + c * cols.from, buffer, {rows.size, 1, kRun},
                      {run, cols.from, 1});
    for (int64_t r = 0; r < rows.size; ++r)
      memcpy(to + r * rows.to + c, buffer + r * kRun, run * sizeof(T));
  }
}

template <typename T>
class StridedCopy {
 public:
  StridedCopy(void* ctx, Dims dims) : ctx_(ctx), dims_(std::move(dims)) {
    if (dims_.empty()) dims_.push_back({1, 1, 1});
    cols_ = dims_.back();
    dims_.pop_back();
    // If another dimension is the dense one of the source, it and the last form the plane.
    auto dense =
        std::find_if(dims_.begin(), dims_.end(), [](const auto& d) { return d.from == 1; });
    if (cols_.from != 1 && cols_.from != 0 && dense != dims_.end()) {
      rows_ = *dense;
      dims_.erase(dense);
      crossed_ = true;
    } else if (!dims_.empty()) {
      rows_ = dims_.back();
      dims_.pop_back();
    }
    for (const HlokitCopyDim& d : dims_) planes_ *= d.size;
    ahead_ = Ahead();
  }

  void Run(const T* from, T* to) const {
    if (planes_ * rows_.size * cols_.size == 0) return;
    // The unit of work is a stripe of rows of one plane.
    const int64_t bytes = planes_ * rows_.size * cols_.size * int64_t{sizeof(T)};
    const bool non_temporal = bytes >= kNonTemporal && HasOwnLines(to);
    const Way way = non_temporal                              ? Way::kNonTemporal
                    : bytes >= kNearCache && LinesShareSets() ? Way::kBuffer
                                                              : Way::kDirect;
    const int64_t height = std::min(rows_.size, StripeHeight(way, bytes));
    const int64_t width = StripeWidth(height);
    const int64_t stripes_down = (rows_.size + height - 1) / height;
    const int64_t stripes_across = (cols_.size + width - 1) / width;
    const int64_t stripe_bytes = std::max<int64_t>(1, height * width * sizeof(T));
    const Movers move = FindMovers<T>(non_temporal);
    ParallelFor(
        ctx_, planes_ * stripes_down * stripes_across,
        std::max<int64_t>(1, kParallelBytes / stripe_bytes), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = i / stripes_across % stripes_down * height,
                          col = i % stripes_across * width;
            CopyStripe(move, way, from + row * rows_.from + col * cols_.from,
                       to + row * rows_.to + col * cols_.to, i / (stripes_across * stripes_down),
                       Part(rows_, row, height), Part(cols_, col, width));
          }
          if (non_temporal) Fence();
        });
  }

 private:
  int64_t StripeHeight(Way way, int64_t bytes) const {
    if (!crossed_) return std::max<int64_t>(1, 4096 / (cols_.size * int64_t{sizeof(T)}));
    if (way == Way::kBuffer) return kStripe;
    // Measured: narrow stripes are faster from a cache, wide ones from memory.
    return (way == Way::kNonTemporal && bytes < kLastCache ? 2 : 4) * TileEdge<T>();
  }

  // A few long rows give too few stripes for many threads; then a stripe is a part of a row.
  int64_t StripeWidth(int64_t height) const {
    if (!crossed_ || height < rows_.size || cols_.to != 1) return std::max<int64_t>(1, cols_.size);
    return std::max<int64_t>(kStripe, kParallelBytes / (height * int64_t{sizeof(T)}) & -kStripe);
  }

  // Whether the lines of a stripe's rows share few sets of the first-level cache. Elements of one
  // byte gain nothing from the buffer.
  bool LinesShareSets() const {
    if (sizeof(T) == 1 || sizeof(T) > 8 || !crossed_ || cols_.to != 1) return false;
    return rows_.to * int64_t{sizeof(T)} % kSetsBytes == 0 && rows_.size >= kStripe / 2;
  }

  // Short strided rows are more streams than the hardware prefetcher follows: prefetch in software.
  int64_t Ahead() const {
    const int64_t row = cols_.size * int64_t{sizeof(T)};
    if (dims_.empty() || row * rows_.size == 0 || row > kFollowedBytes) return 0;
    const int64_t planes = std::max<int64_t>(1, kAheadBytes / (row * rows_.size));
    return planes * dims_.back().from * int64_t{sizeof(T)};
  }

  // Whether the tiles of a crossed copy, or the dense rows of another, are made of whole cache
  // lines.
  bool HasOwnLines(const T* to) const {
    const auto whole = [](int64_t elements) { return elements * int64_t{sizeof(T)} % 64 == 0; };
    if (!crossed_ && (cols_.to != 1 || cols_.from != 1 || !whole(cols_.size))) return false;
    return reinterpret_cast<uintptr_t>(to) % 64 == 0 && whole(rows_.to) &&
           std::all_of(dims_.begin(), dims_.end(), [&](const auto& d) { return whole(d.to); });
  }

  // Copies a stripe of plane number `plane`; `from` and `to` are its start in plane 0.
  void CopyStripe(const Movers& move, Way way, const T* from, T* to, int64_t plane,
                  const HlokitCopyDim& rows, const HlokitCopyDim& cols) const {
    for (size_t i = dims_.size(); i-- > 0;) {
      const int64_t index = plane % dims_[i].size;
      plane /= dims_[i].size;
      from += index * dims_[i].from;
      to += index * dims_[i].to;
    }
    if (crossed_ && way == Way::kBuffer) return CopyStripeByBuffer(move, from, to, rows, cols);
    if (crossed_) return CopyStripeByTiles(move, from, to, rows, cols);
    for (int64_t r = 0; r < rows.size; ++r) {
      const T* line = from + r * rows.from;
      if (way == Way::kNonTemporal) {
        CopyNonTemporal(reinterpret_cast<const char*>(line),
                        reinterpret_cast<char*>(to + r * rows.to), cols.size * sizeof(T), ahead_);
      } else {
        CopyLine(line, to + r * rows.to, cols);
      }
    }
  }

  void* ctx_;
  Dims dims_;  // outside the plane
  HlokitCopyDim rows_{1, 0, 0}, cols_{1, 1, 1};
  int64_t ahead_ = 0;     // bytes from a dense row to one that is read some KB later
  bool crossed_ = false;  // rows are dense in the source, columns in the destination
  int64_t planes_ = 1;
};

template <typename T>
void CopyAs(void* ctx, const HlokitCopyDesc& desc, const void* from, void* to) {
  StridedCopy<T>(ctx, Simplified(desc)).Run(static_cast<const T*>(from), static_cast<T*>(to));
}

}  // namespace
}  // namespace hlokit

extern "C" {

void hlokit_copy_strided(void* ctx, const HlokitCopyDesc* desc, const void* from, void* to) {
  if (desc->rank > HLOKIT_MAX_COPY_DIMS)
    return hlokit_set_error(ctx, "a copy has too many dimensions");
  switch (desc->element_bytes) {
    case 1:
      return hlokit::CopyAs<uint8_t>(ctx, *desc, from, to);
    case 2:
      return hlokit::CopyAs<uint16_t>(ctx, *desc, from, to);
    case 4:
      return hlokit::CopyAs<uint32_t>(ctx, *desc, from, to);
    case 8:
      return hlokit::CopyAs<uint64_t>(ctx, *desc, from, to);
    case 16:
      return hlokit::CopyAs<hlokit::Wide>(ctx, *desc, from, to);
    default:
      hlokit_set_error(ctx, "a copy of elements of a size that is not 1, 2, 4, 8 or 16 bytes");
  }
}

void hlokit_copy(void* ctx, const void* from, void* to, int64_t bytes) {
  hlokit::ParallelFor(ctx, bytes, hlokit::kParallelBytes * 4, [&](int64_t begin, int64_t end) {
    memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

void hlokit_copy_out(void* ctx, const void* from, void* to, int64_t bytes) {
  hlokit::ParallelFor(ctx, bytes, hlokit::kParallelBytes * 4, [&](int64_t begin, int64_t end) {
    hlokit::CopyNonTemporal(static_cast<const char*>(from) + begin, static_cast<char*>(to) + begin,
                            end - begin);
    hlokit::Fence();
  });
}

void hlokit_fill_zero(void* ctx, void* to, int64_t bytes) {
  hlokit::ParallelFor(ctx, bytes, hlokit::kParallelBytes * 4, [&](int64_t begin, int64_t end) {
    memset(static_cast<char*>(to) + begin, 0, end - begin);
  });
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
