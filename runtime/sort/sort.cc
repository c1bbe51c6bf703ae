// Sorts rows: gathers blocks of rows into scratch memory, sorts keys or entries there, and scatters
// the result. Three ways, by what the comparator is (recognized in
// backends/cpu/library_calls/sort_call.cc):
// - one array by its own order: values become unsigned integers of the same order (KeyCodec) and
// are sorted in place by vqsort or std::sort;
// - several arrays by one key: entries (key, position) are sorted, then every array is permuted.
// Positions make entries unique, so the result is stable with any algorithm;
// - any comparator: a merge sort of positions that calls the compiled comparator, n log2 n times.
//
// Numeric order treats -0 and 0 as equal and all NaNs as equal. They share one key while they are
// sorted; afterwards the elements of that block get their original bits back, in the original order
// (Restore).
#include "runtime/sort/sort.h"

#include <string.h>

#include <algorithm>
#include <vector>

#include "runtime/context.h"
#include "runtime/parallel.h"
#include "runtime/scratch.h"
#include "runtime/sort/sort_keys_internal.h"

namespace hlokit {
namespace {

constexpr int64_t kBlockRows = 16;  // interleaved rows that are read together

// Calls body(first offset, rows) for blocks of neighbouring rows, in parallel; row r starts at
// offset + r.
template <typename Body>
void ForRowBlocks(void* ctx, const HlokitSortDesc& d, const Body& body) {
  const int64_t block = std::min(kBlockRows, d.inner);
  const int64_t blocks = d.inner == 0 ? 0 : (d.inner + block - 1) / block;
  const int64_t work = std::max<int64_t>(1, d.length * block);
  ParallelFor(ctx, d.outer * blocks, std::max<int64_t>(1, 4096 / work),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t first = i % blocks * block;
                  body(i / blocks * d.length * d.inner + first, std::min(block, d.inner - first));
                }
              });
}

// to[row][i] = from[i * inner + row]
template <typename T>
void GatherRows(const T* from, int64_t inner, int64_t length, int64_t rows, T* to) {
  if (inner == 1) {
    memcpy(to, from, length * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t r = 0; r < rows; ++r) to[r * length + i] = from[i * inner + r];
  }
}

template <typename T>
void ScatterRows(const T* from, int64_t inner, int64_t length, int64_t rows, T* to) {
  if (inner == 1) {
    memcpy(to, from, length * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t r = 0; r < rows; ++r) to[i * inner + r] = from[r * length + i];
  }
}

bool Allocated(void* ctx, const Scratch& scratch) {
  if (scratch.data() != nullptr) return true;
  hlokit_set_error(ctx, "out of memory in a sort");
  return false;
}

// --- one array ---

template <typename Codec>
struct KeyRow {
  using U = typename Codec::Bits;
  const HlokitSortDesc& d;
  U flip;  // all ones for descending

  // Returns whether equal keys had different bits.
  bool Encode(const U* from, U* to) const {
    if (d.order == HLOKIT_ORDER_TOTAL) {
      for (int64_t i = 0; i < d.length; ++i) to[i] = Codec::Encode(from[i]) ^ flip;
      return false;
    }
    U differing = 0;
    for (int64_t i = 0; i < d.length; ++i) {
      const U canonical = Codec::Canonical(from[i]);
      differing |= canonical ^ from[i];
      to[i] = Codec::Encode(canonical) ^ flip;
    }
    return differing != 0;
  }

  // The block of elements that satisfy `is` gets its bits back, in the order of the unsorted row.
  template <typename Is>
  void Restore(const U* unsorted, U* sorted, const Is& is) const {
    int64_t next = std::find_if(sorted, sorted + d.length, is) - sorted;
    for (int64_t i = 0; i < d.length; ++i) {
      if (is(unsorted[i])) sorted[next++] = unsorted[i];
    }
  }

  void Sort(U* row, U* keys) const {
    const bool differing = Encode(row, keys);
    SortAscending(keys, d.length);
    for (int64_t i = 0; i < d.length; ++i) keys[i] = Codec::Decode(keys[i] ^ flip);
    if (!differing) return;
    Restore(row, keys, Codec::IsZero);
    Restore(row, keys, Codec::IsNan);
  }
};

template <typename Codec>
void SortKeys(void* ctx, const HlokitSortDesc& d, const void* from_data, void* to_data) {
  using U = typename Codec::Bits;
  const KeyRow<Codec> keys{d, d.descending ? static_cast<U>(~U{0}) : U{0}};
  ForRowBlocks(ctx, d, [&](int64_t offset, int64_t rows) {
    Scratch scratch(2 * rows * d.length * sizeof(U));
    if (!Allocated(ctx, scratch)) return;
    U* unsorted = scratch.as<U>();
    U* sorted = unsorted + rows * d.length;
    GatherRows(static_cast<const U*>(from_data) + offset, d.inner, d.length, rows, unsorted);
    for (int64_t r = 0; r < rows; ++r) keys.Sort(unsorted + r * d.length, sorted + r * d.length);
    ScatterRows(sorted, d.inner, d.length, rows, static_cast<U*>(to_data) + offset);
  });
}

// --- several arrays by one permutation ---

struct Columns {
  int64_t count;
  const int64_t* element_bytes;
  const void* const* from;
  void* const* to;
};

template <typename T>
void PermuteRows(const HlokitSortDesc& d, const void* from, void* to, int64_t offset, int64_t rows,
                 const int64_t* order, T* scratch) {
  T* sorted = scratch + rows * d.length;
  GatherRows(static_cast<const T*>(from) + offset, d.inner, d.length, rows, scratch);
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = scratch + r * d.length;
    for (int64_t i = 0; i < d.length; ++i) sorted[r * d.length + i] = row[order[r * d.length + i]];
  }
  ScatterRows(sorted, d.inner, d.length, rows, static_cast<T*>(to) + offset);
}

struct Wide {
  uint64_t words[2];
};

// Calls visit(T()) for the unsigned type of that size.
template <typename Visitor>
void VisitBytes(int64_t bytes, const Visitor& visit) {
  switch (bytes) {
    case 1:
      return visit(uint8_t());
    case 2:
      return visit(uint16_t());
    case 4:
      return visit(uint32_t());
    case 8:
      return visit(uint64_t());
    default:
      return visit(Wide());
  }
}

void PermuteColumns(void* ctx, const HlokitSortDesc& d, const Columns& columns, int64_t offset,
                    int64_t rows, const int64_t* order) {
  for (int64_t c = 0; c < columns.count; ++c) {
    VisitBytes(columns.element_bytes[c], [&](auto element) {
      using T = decltype(element);
      Scratch scratch(2 * rows * d.length * sizeof(T));
      if (!Allocated(ctx, scratch)) return;
      PermuteRows(d, columns.from[c], columns.to[c], offset, rows, order, scratch.as<T>());
    });
  }
}

bool CheckColumns(void* ctx, const Columns& columns) {
  for (int64_t c = 0; c < columns.count; ++c) {
    const int64_t bytes = columns.element_bytes[c];
    if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) continue;
    hlokit_set_error(ctx, "a sort of elements of a size that is not 1, 2, 4, 8 or 16 bytes");
    return false;
  }
  return true;
}

template <typename Codec>
void SortByKey(void* ctx, const HlokitSortDesc& d, const Columns& columns) {
  using U = typename Codec::Bits;
  using Entry = EntryOf<U>;
  const U flip = d.descending ? static_cast<U>(~U{0}) : U{0};
  ForRowBlocks(ctx, d, [&](int64_t offset, int64_t rows) {
    Scratch scratch(rows * d.length * (sizeof(U) + sizeof(int64_t)) + d.length * sizeof(Entry) +
                    64);
    if (!Allocated(ctx, scratch)) return;
    Entry* entries = scratch.as<Entry>();
    int64_t* order = reinterpret_cast<int64_t*>(entries + d.length);
    U* keys = reinterpret_cast<U*>(order + rows * d.length);
    GatherRows(static_cast<const U*>(columns.from[0]) + offset, d.inner, d.length, rows, keys);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < d.length; ++i) {
        const U bits = keys[r * d.length + i];
        const U key =
            Codec::Encode(d.order == HLOKIT_ORDER_TOTAL ? bits : Codec::Canonical(bits)) ^ flip;
        entries[i] = MakeEntry<U>(key, i);
      }
      SortAscending(entries, d.length);
      for (int64_t i = 0; i < d.length; ++i) order[r * d.length + i] = IndexOf(entries[i]);
    }
    PermuteColumns(ctx, d, columns, offset, rows, order);
  });
}

// --- any comparison ---

constexpr int64_t kInsertionRun = 12;

// Stable; ends whatever `less` says.
template <typename Less>
void MergeSort(int64_t* order, int64_t* spare, int64_t count, const Less& less) {
  for (int64_t i = 0; i < count; i += kInsertionRun) {
    InsertionSort(order + i, std::min(kInsertionRun, count - i), less);
  }
  int64_t *from = order, *to = spare;
  for (int64_t run = kInsertionRun; run < count; run *= 2) {
    for (int64_t i = 0; i < count; i += 2 * run) {
      int64_t left = i, right = std::min(i + run, count);
      const int64_t middle = right, end = std::min(i + 2 * run, count);
      for (int64_t k = i; k < end; ++k) {
        const bool take_right = left == middle || (right < end && less(from[right], from[left]));
        to[k] = take_right ? from[right++] : from[left++];
      }
    }
    std::swap(from, to);
  }
  if (from != order) std::copy_n(from, count, order);
}

void SortGeneric(void* ctx, const HlokitSortDesc& d, const Columns& columns, HlokitLess less,
                 void* env) {
  int64_t bytes = 0;
  for (int64_t c = 0; c < columns.count; ++c) bytes += columns.element_bytes[c];
  ForRowBlocks(ctx, d, [&](int64_t offset, int64_t rows) {
    const int64_t block = rows * d.length;
    Scratch scratch((block + d.length) * sizeof(int64_t) + block * bytes +
                    64 * (columns.count + 1));
    if (!Allocated(ctx, scratch)) return;
    int64_t* order = scratch.as<int64_t>();
    int64_t* spare = order + block;
    char* next = reinterpret_cast<char*>(spare + d.length);
    std::vector<char*> gathered;
    for (int64_t c = 0; c < columns.count; ++c) {
      next += -reinterpret_cast<intptr_t>(next) & 15;
      gathered.push_back(next);
      VisitBytes(columns.element_bytes[c], [&](auto element) {
        using T = decltype(element);
        GatherRows(static_cast<const T*>(columns.from[c]) + offset, d.inner, d.length, rows,
                   reinterpret_cast<T*>(next));
      });
      next += block * columns.element_bytes[c];
    }
    std::vector<const void*> row(columns.count);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns.count; ++c)
        row[c] = gathered[c] + r * d.length * columns.element_bytes[c];
      int64_t* row_order = order + r * d.length;
      for (int64_t i = 0; i < d.length; ++i) row_order[i] = i;
      MergeSort(row_order, spare, d.length,
                [&](int64_t a, int64_t b) { return less(env, row.data(), a, b) != 0; });
    }
    PermuteColumns(ctx, d, columns, offset, rows, order);
  });
}

void ReportUnordered(void* ctx, int64_t type) {
  SetKernelError(ctx, "element type %d has no order to sort by", static_cast<int>(type));
}

}  // namespace
}  // namespace hlokit

extern "C" {

void hlokit_sort_keys(void* ctx, const HlokitSortDesc* desc, const void* from, void* to) {
  const bool known = hlokit::VisitKeyCodec(
      desc->key_type, [&](auto codec) { hlokit::SortKeys<decltype(codec)>(ctx, *desc, from, to); });
  if (!known) hlokit::ReportUnordered(ctx, desc->key_type);
}

void hlokit_sort_by_key(void* ctx, const HlokitSortDesc* desc, int64_t count,
                        const int64_t* element_bytes, const void* const* from, void* const* to) {
  const hlokit::Columns columns{count, element_bytes, from, to};
  if (!hlokit::CheckColumns(ctx, columns)) return;
  const bool known = hlokit::VisitKeyCodec(
      desc->key_type, [&](auto codec) { hlokit::SortByKey<decltype(codec)>(ctx, *desc, columns); });
  if (!known) hlokit::ReportUnordered(ctx, desc->key_type);
}

void hlokit_sort_generic(void* ctx, const HlokitSortDesc* desc, int64_t count,
                         const int64_t* element_bytes, const void* const* from, void* const* to,
                         HlokitLess less, void* env) {
  const hlokit::Columns columns{count, element_bytes, from, to};
  if (hlokit::CheckColumns(ctx, columns)) hlokit::SortGeneric(ctx, *desc, columns, less, env);
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
