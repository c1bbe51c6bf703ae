// Columns of 32 lanes, and templates that turn a scalar function into an evaluator.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "ptxsim/program.h"

namespace hlokit::ptx {

// A result may be written over an operand: lane i is read before lane i is written, so the loop
// has no dependence that a vector would break.
#define HLOKIT_LANES(i) _Pragma("GCC ivdep") for (int i = 0; i < kLanes; ++i)

template <typename T>
const T* In(const std::byte* frame, uint32_t at) {
  return reinterpret_cast<const T*>(frame + at);
}
template <typename T>
T* Out(std::byte* frame, uint32_t at) {
  return reinterpret_cast<T*>(frame + at);
}
inline LaneMask PredicateAt(const std::byte* frame, uint32_t at) {
  return *In<LaneMask>(frame, at);
}

// Packs lanes that are 0 or 1 into a word.
inline LaneMask PackBits(const uint8_t* lanes) {
  LaneMask mask = 0;
  for (int part = 0; part < 4; ++part) {
    uint64_t bytes;
    std::memcpy(&bytes, lanes + 8 * part, 8);
    mask |= static_cast<LaneMask>(bytes * 0x0102040810204080u >> 56) << 8 * part;
  }
  return mask;
}

// F is a default-constructible type with `static R Do(A...)`.
template <typename F, typename R, typename A>
void Unary(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  R* d = static_cast<R*>(result);
  HLOKIT_LANES(i) d[i] = F::Do(a[i]);
}
template <typename F, typename R, typename A, typename B>
void Binary(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  const B* b = In<B>(frame, op.b);
  R* d = static_cast<R*>(result);
  HLOKIT_LANES(i) d[i] = F::Do(a[i], b[i]);
}
template <typename F, typename R, typename A, typename B, typename C>
void Ternary(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  const B* b = In<B>(frame, op.b);
  const C* c = In<C>(frame, op.c);
  R* d = static_cast<R*>(result);
  HLOKIT_LANES(i) d[i] = F::Do(a[i], b[i], c[i]);
}
template <typename F, typename R, typename A, typename B, typename C, typename E>
void Quaternary(const Op& op, std::byte* frame, void* result) {
  const A* a = In<A>(frame, op.a);
  const B* b = In<B>(frame, op.b);
  const C* c = In<C>(frame, op.c);
  const E* e = In<E>(frame, op.e);
  R* d = static_cast<R*>(result);
  HLOKIT_LANES(i) d[i] = F::Do(a[i], b[i], c[i], e[i]);
}

// Calls f(T{}) with the C++ type of an integer PTX type; null for others. Bit types are unsigned.
template <typename F>
Eval ForInteger(Type type, F f) {
  switch (type) {
    case Type::kU8:
    case Type::kB8:
      return f(uint8_t{});
    case Type::kS8:
      return f(int8_t{});
    case Type::kU16:
    case Type::kB16:
      return f(uint16_t{});
    case Type::kS16:
      return f(int16_t{});
    case Type::kU32:
    case Type::kB32:
      return f(uint32_t{});
    case Type::kS32:
      return f(int32_t{});
    case Type::kU64:
    case Type::kB64:
      return f(uint64_t{});
    case Type::kS64:
      return f(int64_t{});
    default:
      return nullptr;
  }
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
