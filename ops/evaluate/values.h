// Widened elements: evaluation computes on double, int64_t, uint64_t and complex<double>, whatever
// the element type.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "types/literal.h"

namespace hlokit {

using Complex = std::complex<double>;

// Which of the four a type is widened to. f32 in double loses nothing: +, -, *, / and sqrt of
// doubles, rounded to f32 (and then to narrower types), are the correctly rounded results. pred is
// unsigned, 0 or 1.
enum class Wide : uint8_t { kReal, kSigned, kUnsigned, kComplex };
Wide WideOf(ElementType type);
// Bytes of a widened element: 8, or 16 for complex.
inline int WideBytes(ElementType type) { return WideOf(type) == Wide::kComplex ? 16 : 8; }

// Elements that one kernel call handles at most.
inline constexpr int64_t kChunk = 512;

// `n` elements of `type` at `data` (as a Literal stores them) widened into `out`.
void LoadWide(ElementType type, const uint8_t* data, int64_t n, void* out);
// The inverse, rounding once: floats to f32 and from there to narrower types, integers wrapped to
// the width.
void StoreWide(ElementType type, const void* values, int64_t n, uint8_t* data);
// Rounds in place to what `type` can hold.
void RoundWide(ElementType type, void* values, int64_t n);

// While one lives, this thread reads and stores subnormal f32, f64 and bf16 elements as zeros of
// their sign, as XLA's CPU does; copies of unchanged data keep them.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool flush);
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  bool before_;
};

// Calls fn(T{}) with the type that elements of `type` widen to.
template <typename Fn>
auto VisitWide(ElementType type, Fn fn) {
  switch (WideOf(type)) {
    case Wide::kSigned:
      return fn(int64_t{});
    case Wide::kUnsigned:
      return fn(uint64_t{});
    case Wide::kComplex:
      return fn(Complex{});
    default:
      return fn(double{});
  }
}

template <typename To, typename From>
To CastWide(From value) {
  if constexpr (std::is_same_v<From, Complex> && !std::is_same_v<To, Complex>) {
    return static_cast<To>(value.real());
  } else {
    return static_cast<To>(value);
  }
}

// All elements, widened and then cast to T (which need not be the type's own widening).
template <typename T>
std::vector<T> WidenTo(const Literal& literal) {
  std::vector<T> out(literal.element_count());
  VisitWide(literal.type(), [&](auto own) {
    using Own = decltype(own);
    if constexpr (std::is_same_v<Own, T>) {
      LoadWide(literal.type(), literal.data(), literal.element_count(), out.data());
    } else {
      std::vector<Own> raw(literal.element_count());
      LoadWide(literal.type(), literal.data(), literal.element_count(), raw.data());
      for (size_t i = 0; i < raw.size(); ++i) out[i] = CastWide<T>(raw[i]);
    }
  });
  return out;
}

// A literal of an array shape from values of the type's own widening.
template <typename T>
Literal NarrowFrom(const Shape& shape, const std::vector<T>& values) {
  Literal out(shape);
  StoreWide(shape.type, values.data(), out.element_count(), out.data());
  return out;
}

// Truncated toward zero, at the ends of the type where out of range; 0 for NaN.
template <typename To>
To IntegerFromReal(double x, ElementType type) {
  if (IsPred(type)) return x != 0;
  if (std::isnan(x)) return 0;
  const int width = BitWidth(type) - (IsSigned(type) ? 1 : 0);
  const double limit = std::ldexp(1.0, width);
  const uint64_t largest = width == 0 ? 0 : ~uint64_t{0} >> (64 - width);
  if (x >= limit) return static_cast<To>(largest);
  if (IsSigned(type))
    return static_cast<To>(x <= -limit ? ~largest : static_cast<uint64_t>(static_cast<int64_t>(x)));
  return x <= 0 ? 0 : static_cast<To>(x);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
