// Loading, storing and rounding of widened elements.
//
// Evaluators compute in four wide types: double, int64, uint64 and complex<double>. A chunk is
// widened with LoadWide, computed, and rounded once with StoreWide. Floats of up to 8 bits, and
// f16, are decoded by a table of all their patterns; f16 and bf16 are encoded by integer arithmetic
// without branches, as it is done for each element of large arrays.
// f32 results are rounded from double, which is correct for the operations that go through here but
// for double rounding of the narrowest types, where XLA has it too.
// With flushing of denormals on (as XLA's option has it) values below the normal range are zeroed
// on both ways.
#include "ops/evaluate/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "types/float_convert.h"

namespace hlokit {
namespace {

template <typename Narrow, typename T>
void LoadAs(const uint8_t* data, int64_t n, T* out) {
  const Narrow* in = reinterpret_cast<const Narrow*>(data);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(in[i]);
}

template <typename Narrow, typename T>
void StoreAs(const T* values, int64_t n, uint8_t* data) {
  Narrow* out = reinterpret_cast<Narrow*>(data);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Narrow>(values[i]);
}

template <typename S8, typename S16, typename S32, typename S64, typename T>
void LoadInteger(ElementType type, const uint8_t* data, int64_t n, T* out) {
  switch (ByteWidth(type)) {
    case 1:
      return LoadAs<S8>(data, n, out);
    case 2:
      return LoadAs<S16>(data, n, out);
    case 4:
      return LoadAs<S32>(data, n, out);
    default:
      return LoadAs<S64>(data, n, out);
  }
}

void StoreInteger(ElementType type, const uint64_t* values, int64_t n, uint8_t* data) {
  if (IsPred(type)) {
    for (int64_t i = 0; i < n; ++i) data[i] = values[i] != 0;
  } else if (IsSubByte(type)) {
    const int drop = 64 - BitWidth(type);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t top = values[i] << drop;
      data[i] = IsSigned(type) ? static_cast<int64_t>(top) >> drop : top >> drop;
    }
  } else {
    switch (ByteWidth(type)) {
      case 1:
        return StoreAs<uint8_t>(values, n, data);
      case 2:
        return StoreAs<uint16_t>(values, n, data);
      case 4:
        return StoreAs<uint32_t>(values, n, data);
      default:
        return StoreAs<uint64_t>(values, n, data);
    }
  }
}

// The values of all bit patterns of a float type of at most 16 bits, made on first use.
const float* ValueTable(ElementType type) {
  static const std::array<std::vector<float>, kElementTypeCount>* const small = [] {
    auto* tables = new std::array<std::vector<float>, kElementTypeCount>;
    for (int t = 0; t < kElementTypeCount; ++t) {
      const ElementType type = static_cast<ElementType>(t);
      if (!IsFloat(type) || BitWidth(type) > 8) continue;
      for (int bits = 0; bits < 256; ++bits)
        (*tables)[t].push_back(FloatFromBits(type, bits & ((1 << BitWidth(type)) - 1)));
    }
    return tables;
  }();
  if (type != ElementType::kF16) return (*small)[static_cast<int>(type)].data();
  static const std::vector<float>* const half = [] {
    auto* table = new std::vector<float>(1 << 16);
    for (int bits = 0; bits < 1 << 16; ++bits)
      (*table)[bits] = FloatFromBits(ElementType::kF16, bits);
    return table;
  }();
  return half->data();
}

// f32 to f16, to nearest with ties to even, without branches on the rounding; NaN keeps the top of
// its payload.
uint16_t HalfBits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = (bits >> 16) & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return sign | 0x7e00 | ((bits >> 13) & 0x3ff);
  if (bits >= 0x477ff000) return sign | 0x7c00;  // 65520 rounds up to infinity
  if (bits < 0x38800000)  // subnormal: at 0.5 a float's last place is the half's smallest value
    return sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000);
  return sign | ((bits - 0x38000000 + 0xfff + ((bits >> 13) & 1)) >> 13);
}

// f32 to bf16, to nearest with ties to even; NaN becomes quiet.
uint16_t BrainBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

thread_local bool flush_denormals = false;

// Zeroes what lies below the normal range of f32 (and bf16, which shares it) or f64.
void FlushInto(ElementType type, const double* values, int64_t n, double* out) {
  const double smallest = type == ElementType::kF64 ? 0x1p-1022 : 0x1p-126;
  for (int64_t i = 0; i < n; ++i)
    out[i] = std::fabs(values[i]) < smallest ? std::copysign(0.0, values[i]) : values[i];
}

bool Flushes(ElementType type) {
  return flush_denormals &&
         (type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kBF16);
}

// Every value of these types is a double exactly.
void LoadExact(ElementType type, const uint8_t* data, int64_t n, double* out) {
  switch (type) {
    case ElementType::kF64:
      return LoadAs<double>(data, n, out);
    case ElementType::kF32:
      return LoadAs<float>(data, n, out);
    case ElementType::kBF16:
      for (int64_t i = 0; i < n; ++i)
        out[i] = std::bit_cast<float>(uint32_t{reinterpret_cast<const uint16_t*>(data)[i]} << 16);
      return;
    default:
      break;
  }
  const float* table = ValueTable(type);
  if (type == ElementType::kF16) {
    for (int64_t i = 0; i < n; ++i) out[i] = table[reinterpret_cast<const uint16_t*>(data)[i]];
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = table[data[i]];
  }
}

// Rounded to f32 first for narrow types: evaluation in double and a second rounding is what XLA's
// f32 arithmetic does to them.
void StoreExact(ElementType type, const double* values, int64_t n, uint8_t* data) {
  uint16_t* out16 = reinterpret_cast<uint16_t*>(data);
  switch (type) {
    case ElementType::kF64:
      return StoreAs<double>(values, n, data);
    case ElementType::kF32:
      return StoreAs<float>(values, n, data);
    case ElementType::kBF16:
      for (int64_t i = 0; i < n; ++i) out16[i] = BrainBits(static_cast<float>(values[i]));
      return;
    case ElementType::kF16:
      for (int64_t i = 0; i < n; ++i) out16[i] = HalfBits(static_cast<float>(values[i]));
      return;
    default:
      for (int64_t i = 0; i < n; ++i) data[i] = FloatToBits(type, static_cast<float>(values[i]));
  }
}

void LoadReal(ElementType type, const uint8_t* data, int64_t n, double* out) {
  LoadExact(type, data, n, out);
  if (Flushes(type)) FlushInto(type, out, n, out);
}

void StoreReal(ElementType type, const double* values, int64_t n, uint8_t* data) {
  if (!Flushes(type)) return StoreExact(type, values, n, data);
  double flushed[kChunk];
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t step = std::min(kChunk, n - at);
    FlushInto(type, values + at, step, flushed);
    StoreExact(type, flushed, step, data + at * ByteWidth(type));
  }
}

}  // namespace

FlushDenormals::FlushDenormals(bool flush) : before_(std::exchange(flush_denormals, flush)) {}
FlushDenormals::~FlushDenormals() { flush_denormals = before_; }

// The type in which elements of `type` are computed.
Wide WideOf(ElementType type) {
  if (IsSigned(type)) return Wide::kSigned;
  if (IsUnsigned(type) || IsPred(type)) return Wide::kUnsigned;
  return IsComplex(type) ? Wide::kComplex : Wide::kReal;
}

void LoadWide(ElementType type, const uint8_t* data, int64_t n, void* out) {
  switch (WideOf(type)) {
    case Wide::kSigned:
      return LoadInteger<int8_t, int16_t, int32_t, int64_t>(type, data, n,
                                                            static_cast<int64_t*>(out));
    case Wide::kUnsigned:
      return LoadInteger<uint8_t, uint16_t, uint32_t, uint64_t>(type, data, n,
                                                                static_cast<uint64_t*>(out));
    case Wide::kReal:
      return LoadReal(type, data, n, static_cast<double*>(out));
    case Wide::kComplex:
      return LoadReal(RealComponent(type), data, 2 * n, static_cast<double*>(out));
  }
}

void StoreWide(ElementType type, const void* values, int64_t n, uint8_t* data) {
  switch (WideOf(type)) {
    case Wide::kReal:
      return StoreReal(type, static_cast<const double*>(values), n, data);
    case Wide::kComplex:
      return StoreReal(RealComponent(type), static_cast<const double*>(values), 2 * n, data);
    default:
      return StoreInteger(type, static_cast<const uint64_t*>(values), n, data);
  }
}

// Rounds widened elements to what `type` holds, in place: a store and a load, but for f32, c64 and
// 64-bit types.
void RoundWide(ElementType type, void* values, int64_t n) {
  if (BitWidth(type) == 64 && !IsComplex(type)) return;
  if (type == ElementType::kC128) return;
  if (type == ElementType::kF32 || type == ElementType::kC64) {
    double* reals = static_cast<double*>(values);
    const int64_t count = IsComplex(type) ? 2 * n : n;
    for (int64_t i = 0; i < count; ++i) reals[i] = static_cast<float>(reals[i]);
    if (flush_denormals) FlushInto(ElementType::kF32, reals, count, reals);
    return;
  }
  alignas(16) uint8_t narrow[kChunk * 8];
  for (int64_t at = 0; at < n; at += kChunk) {
    const int64_t step = std::min(kChunk, n - at);
    uint8_t* where = static_cast<uint8_t*>(values) + at * WideBytes(type);
    StoreWide(type, where, step, narrow);
    LoadWide(type, narrow, step, where);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
