// Strided copies: dimensions are merged and sorted, then lines are copied, or squares where the two
// orders differ.
#include "runtime/memory.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "runtime/context.h"
#include "runtime/cpu_features.h"
#include "runtime/parallel.h"
#include "runtime/squares/squares_internal.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace hlokit {
namespace {

constexpr int64_t kParallelBytes = 64 << 10;  // what one thread should at least move

struct Wide {
  uint64_t words[2];
};  // a 16-byte element

// Bytes of a result that would drive all else out of the caches.
constexpr int64_t kPastCache = 8 << 20;
constexpr int64_t kLastCache = 32 << 20;
// Bytes of a result that fit the nearest cache beside its source.
constexpr int64_t kNearCache = 16 << 10;
constexpr int64_t kAheadBytes = 12 << 10, kFollowedBytes = 2 << 10;
// A stripe that goes by way of a buffer: its rows, and what of a row goes at once.
constexpr int64_t kStripe = 64, kRunBytes = 512;
// Lines at multiples of it take at most four sets of a cache of 64.
constexpr int64_t kSetsBytes = 1 << 10;

// Elements of one cache line.
template <typename T>
constexpr int64_t SquareEdge() {
  return 64 / sizeof(T);
}

// Rows or columns that are too few for squares of vectors.
constexpr int64_t kFew = 8;

// How the lines of a result are written.
enum class Way { kDirect, kBuffer, kPastCache };

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

// How parts of a plane are crossed: whole squares, and what is none.
struct Movers {
  MoveSquare square;
  MovePart part;
};

template <typename T>
Movers FindMovers(bool past_cache) {
  constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  const SquareKernels& kernels = HLOKIT_OF_BEST_ISA(kSquares);
  const bool past = past_cache && kernels.past_cache[kWidth] != nullptr;
  return {past ? kernels.past_cache[kWidth] : kernels.by_width[kWidth], kernels.part[kWidth]};
}

// What was written past the caches is there before other threads are told of it.
void Fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Copies without leaving the destination in the cache, nor reading it first, and asks for what lies
// `ahead` bytes further in the source, if that is not 0. Fence is the caller's.
void CopyPastCache(const char* from, char* to, int64_t bytes, int64_t ahead = 0) {
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

// Crosses a square of one cache line a side: lines are read whole and written whole, through a
// buffer, so that lines whose addresses fall together in the cache do no harm.
template <typename T>
void CopySquare(const Movers& move, const T* from, T* to, const HlokitCopyDim& rows,
                const HlokitCopyDim& cols) {
  constexpr int64_t kEdge = SquareEdge<T>();
  alignas(64) T square[kEdge][kEdge];
  if (sizeof(T) <= 8 && cols.to == 1) {
    if (rows.size == kEdge && cols.size == kEdge) return move.square(from, cols.from, to, rows.to);
    return move.part(from, cols.from, to, rows.to, cols.size, rows.size);
  }
  if (rows.size == kEdge && cols.size == kEdge && cols.to == 1) {
    for (int64_t j = 0; j < kEdge; ++j) memcpy(square[j], from + j * cols.from, sizeof(square[j]));
    for (int64_t i = 0; i < kEdge; ++i) {
      for (int64_t j = 0; j < kEdge; ++j) to[i * rows.to + j] = square[j][i];
    }
    return;
  }
  for (int64_t j = 0; j < cols.size; ++j) {
    for (int64_t i = 0; i < rows.size; ++i) to[i * rows.to + j * cols.to] = from[j * cols.from + i];
  }
}

// A stripe of a plane whose rows are dense in the source (rows.from == 1) and whose columns are
// dense in the destination: every square from where it lies to where it goes.
template <typename T>
void CopyStripeBySquares(const Movers& move, const T* from, T* to, const HlokitCopyDim& rows,
                         const HlokitCopyDim& cols) {
  constexpr int64_t kEdge = SquareEdge<T>();
  if (sizeof(T) <= 8 && std::min(rows.size, cols.size) < kFew && cols.to == 1)
    return move.part(from, cols.from, to, rows.to, cols.size, rows.size);
  for (int64_t c = 0; c < cols.size; c += kEdge) {
    for (int64_t r = 0; r < rows.size; r += kEdge) {
      CopySquare(move, from + r + c * cols.from, to + r * rows.to + c * cols.to,
                 Part(rows, r, kEdge), Part(cols, c, kEdge));
    }
  }
}

// The same by way of a buffer, from which lines go in runs of eight: lines of a square whose
// addresses fall together in the cache drive each other out before they are whole.
template <typename T>
void CopyStripeByBuffer(const Movers& move, const T* from, T* to, const HlokitCopyDim& rows,
                        const HlokitCopyDim& cols) {
  constexpr int64_t kRun = kRunBytes / int64_t{sizeof(T)};
  alignas(64) T buffer[kStripe * kRun];
  for (int64_t c = 0; c < cols.size; c += kRun) {
    const int64_t run = std::min(kRun, cols.size - c);
    CopyStripeBySquares(move, from + c * cols.from, buffer, {rows.size, 1, kRun},
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
    // Stripes of rows of all planes are dealt out.
    const int64_t bytes = planes_ * rows_.size * cols_.size * int64_t{sizeof(T)};
    const bool past_cache = bytes >= kPastCache && HasOwnLines(to);
    const Way way = past_cache                                   ? Way::kPastCache
                    : bytes >= kNearCache && LinesFallTogether() ? Way::kBuffer
                                                                 : Way::kDirect;
    const int64_t height = std::min(rows_.size, StripeHeight(way, bytes));
    const int64_t width = StripeWidth(height);
    const int64_t below = (rows_.size + height - 1) / height;
    const int64_t beside = (cols_.size + width - 1) / width;
    const int64_t stripe_bytes = std::max<int64_t>(1, height * width * sizeof(T));
    const Movers move = FindMovers<T>(past_cache);
    ParallelFor(ctx_, planes_ * below * beside, std::max<int64_t>(1, kParallelBytes / stripe_bytes),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t row = i / beside % below * height, col = i % beside * width;
                    CopyStripe(move, way, from + row * rows_.from + col * cols_.from,
                               to + row * rows_.to + col * cols_.to, i / (beside * below),
                               Part(rows_, row, height), Part(cols_, col, width));
                  }
                  if (past_cache) Fence();
                });
  }

 private:
  int64_t StripeHeight(Way way, int64_t bytes) const {
    if (!crossed_) return std::max<int64_t>(1, 4096 / (cols_.size * int64_t{sizeof(T)}));
    if (way == Way::kBuffer) return kStripe;
    // Narrow stripes do best out of a cache, wide ones out of memory.
    return (way == Way::kPastCache && bytes < kLastCache ? 2 : 4) * SquareEdge<T>();
  }

  // Few long rows are no work for many threads; then stripes are parts of them.
  int64_t StripeWidth(int64_t height) const {
    if (!crossed_ || height < rows_.size || cols_.to != 1) return std::max<int64_t>(1, cols_.size);
    return std::max<int64_t>(kStripe, kParallelBytes / (height * int64_t{sizeof(T)}) & -kStripe);
  }

  // Whether the lines of a stripe's rows share few sets of the nearest cache. Bytes do as well.
  bool LinesFallTogether() const {
    if (sizeof(T) == 1 || sizeof(T) > 8 || !crossed_ || cols_.to != 1) return false;
    return rows_.to * int64_t{sizeof(T)} % kSetsBytes == 0 && rows_.size >= kStripe / 2;
  }

  // Short rows that lie apart are more streams than the machine follows by itself.
  int64_t Ahead() const {
    const int64_t row = cols_.size * int64_t{sizeof(T)};
    if (dims_.empty() || row * rows_.size == 0 || row > kFollowedBytes) return 0;
    const int64_t planes = std::max<int64_t>(1, kAheadBytes / (row * rows_.size));
    return planes * dims_.back().from * int64_t{sizeof(T)};
  }

  // Whether the squares of a crossed copy, or the dense rows of another, are made of whole cache
  // lines.
  bool HasOwnLines(const T* to) const {
    const auto whole = [](int64_t elements) { return elements * int64_t{sizeof(T)} % 64 == 0; };
    if (!crossed_ && (cols_.to != 1 || cols_.from != 1 || !whole(cols_.size))) return false;
    return reinterpret_cast<uintptr_t>(to) % 64 == 0 && whole(rows_.to) &&
           std::all_of(dims_.begin(), dims_.end(), [&](const auto& d) { return whole(d.to); });
  }

  // What of a plane begins at `from` and `to` in the first of all.
  void CopyStripe(const Movers& move, Way way, const T* from, T* to, int64_t plane,
                  const HlokitCopyDim& rows, const HlokitCopyDim& cols) const {
    for (size_t i = dims_.size(); i-- > 0;) {
      const int64_t index = plane % dims_[i].size;
      plane /= dims_[i].size;
      from += index * dims_[i].from;
      to += index * dims_[i].to;
    }
    if (crossed_ && way == Way::kBuffer) return CopyStripeByBuffer(move, from, to, rows, cols);
    if (crossed_) return CopyStripeBySquares(move, from, to, rows, cols);
    for (int64_t r = 0; r < rows.size; ++r) {
      const T* line = from + r * rows.from;
      if (way == Way::kPastCache) {
        CopyPastCache(reinterpret_cast<const char*>(line),
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
    hlokit::CopyPastCache(static_cast<const char*>(from) + begin, static_cast<char*>(to) + begin,
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
