// Keys: unsigned integers in the order of the values they stand for.
#pragma once

#include <stdint.h>

#include <type_traits>

#include "runtime/element.h"

namespace hlokit {

enum class KeyKind { kUnsigned, kSigned, kFloat };

// How values of one type turn into keys of their width. `U` is the unsigned integer that holds the
// bits.
template <typename U, KeyKind kKind, int kMantissaBits = 0>
struct KeyCodec {
  using Bits = U;
  static constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  static constexpr U kInfinity = static_cast<U>(~kSign & ~((U{1} << kMantissaBits) - 1));

  static bool IsZero(U bits) {
    return kKind == KeyKind::kFloat && static_cast<U>(bits & ~kSign) == 0;
  }
  static bool IsNan(U bits) {
    return kKind == KeyKind::kFloat && static_cast<U>(bits & ~kSign) > kInfinity;
  }

  // In HLOKIT_ORDER_NUMERIC, zeros share one key and so do NaN.
  static U Canonical(U bits) {
    if constexpr (kKind != KeyKind::kFloat) return bits;
    bits = IsZero(bits) ? U{0} : bits;
    return IsNan(bits) ? static_cast<U>(kInfinity | (kInfinity >> 1)) : bits;
  }
  // Floats are sign and magnitude: flipping all bits of negative ones and the sign of others makes
  // unsigned integers of the same order. Signed integers only need the sign flipped.
  static U Encode(U bits) {
    if constexpr (kKind == KeyKind::kUnsigned) return bits;
    if constexpr (kKind == KeyKind::kSigned) return bits ^ kSign;
    return bits & kSign ? static_cast<U>(~bits) : static_cast<U>(bits | kSign);
  }
  static U Decode(U key) {
    if constexpr (kKind == KeyKind::kUnsigned) return key;
    if constexpr (kKind == KeyKind::kSigned) return key ^ kSign;
    return key & kSign ? static_cast<U>(key ^ kSign) : static_cast<U>(~key);
  }
};

// Calls visit(KeyCodec<...>()) for the codec of `type`; false for a type without order.
template <typename Visitor>
bool VisitKeyCodec(int64_t type, const Visitor& visit) {
  switch (type) {
    case HLOKIT_PRED:
    case HLOKIT_U8:
      return visit(KeyCodec<uint8_t, KeyKind::kUnsigned>()), true;
    case HLOKIT_U16:
      return visit(KeyCodec<uint16_t, KeyKind::kUnsigned>()), true;
    case HLOKIT_U32:
      return visit(KeyCodec<uint32_t, KeyKind::kUnsigned>()), true;
    case HLOKIT_U64:
      return visit(KeyCodec<uint64_t, KeyKind::kUnsigned>()), true;
    case HLOKIT_S8:
      return visit(KeyCodec<uint8_t, KeyKind::kSigned>()), true;
    case HLOKIT_S16:
      return visit(KeyCodec<uint16_t, KeyKind::kSigned>()), true;
    case HLOKIT_S32:
      return visit(KeyCodec<uint32_t, KeyKind::kSigned>()), true;
    case HLOKIT_S64:
      return visit(KeyCodec<uint64_t, KeyKind::kSigned>()), true;
    case HLOKIT_F16:
      return visit(KeyCodec<uint16_t, KeyKind::kFloat, 10>()), true;
    case HLOKIT_BF16:
      return visit(KeyCodec<uint16_t, KeyKind::kFloat, 7>()), true;
    case HLOKIT_F32:
      return visit(KeyCodec<uint32_t, KeyKind::kFloat, 23>()), true;
    case HLOKIT_F64:
      return visit(KeyCodec<uint64_t, KeyKind::kFloat, 52>()), true;
    default:
      return false;
  }
}

// A key with the position it came from: unique, so that any sort of them is stable.
struct LongEntry {
  uint64_t index, key;  // as one 128-bit number, the key is the high part
  friend bool operator<(const LongEntry& a, const LongEntry& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};
template <typename U>
using EntryOf = std::conditional_t<sizeof(U) == 8, LongEntry, uint64_t>;

template <typename U>
EntryOf<U> MakeEntry(U key, int64_t index) {
  if constexpr (sizeof(U) == 8) {
    return {static_cast<uint64_t>(index), key};
  } else {
    return static_cast<uint64_t>(key) << 32 | static_cast<uint32_t>(index);
  }
}
inline int64_t IndexOf(uint64_t entry) { return static_cast<uint32_t>(entry); }
inline int64_t IndexOf(const LongEntry& entry) { return static_cast<int64_t>(entry.index); }

// Stable; ends whatever `less` says.
template <typename Entry, typename Less>
void InsertionSort(Entry* entries, int64_t count, const Less& less) {
  for (int64_t i = 1; i < count; ++i) {
    const Entry moving = entries[i];
    int64_t j = i;
    for (; j > 0 && less(moving, entries[j - 1]); --j) entries[j] = entries[j - 1];
    entries[j] = moving;
  }
}

// Ascending, by Highway's vectorized quicksort or what stands in for it (a counting sort for
// bytes).
void SortAscending(uint8_t* keys, int64_t count);
void SortAscending(uint16_t* keys, int64_t count);
void SortAscending(uint32_t* keys, int64_t count);
void SortAscending(uint64_t* keys, int64_t count);
void SortAscending(LongEntry* entries, int64_t count);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
