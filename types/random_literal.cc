// A counter-based generator: element i of a stream is a hash of both, so that an element's value
// depends neither on the array's size nor on the order in which elements are made.
#include "types/random_literal.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

uint64_t Mix(uint64_t x) {  // splitmix64's finalizer
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

double Uniform(uint64_t bits, const RandomRanges& ranges) {
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
  return ranges.float_low + unit * (ranges.float_high - ranges.float_low);
}

// Box and Muller's: a radius and an angle, each of its own hash.
double Normal(uint64_t bits) {
  const double unit = (static_cast<double>(bits >> 11) + 1) * 0x1p-53;  // above 0
  const double angle = static_cast<double>(Mix(bits) >> 11) * 0x1p-53 * 2 * M_PI;
  return std::sqrt(-2 * std::log(unit)) * std::cos(angle);
}

// Sign, exponent and mantissa each at random; no infinity, no subnormal.
double LargeFloat(uint64_t bits, ElementType type) {
  const FloatFormat& format = FormatOf(type);
  const int span = (1 << format.exponent_bits) - 2;  // the topmost may stand for infinity
  const int exponent = 1 - format.bias + static_cast<int>((bits >> 1) % std::max(span, 1));
  const double fraction = 1 + static_cast<double>(bits >> 32) * 0x1p-32;
  return std::ldexp((bits & 1) != 0 && format.has_sign ? -fraction : fraction, exponent);
}

// Floats of all magnitudes, or of a normal distribution.
void FillUnbounded(Literal& literal, uint64_t stream, bool normal) {
  const ElementType type = RealComponent(literal.type());
  const auto at = [&](int64_t i) {
    const uint64_t bits = Mix(stream ^ Mix(i));
    return normal ? Normal(bits) : LargeFloat(bits, type);
  };
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (IsComplex(literal.type())) {
      literal.SetComplex(i, {at(2 * i), at(2 * i + 1)});
    } else {
      literal.SetDouble(i, at(i));
    }
  }
}

// The part of [low, high] that the type holds.
std::pair<int64_t, int64_t> Cut(ElementType type, const RandomRanges& ranges) {
  const int bits = std::min(BitWidth(type), 63);
  const int64_t low = IsUnsigned(type) ? 0 : -(int64_t{1} << (bits - 1));
  const int64_t high = IsUnsigned(type) && bits < 63 ? (int64_t{1} << bits) - 1
                       : bits == 63                  ? INT64_MAX
                                                     : (int64_t{1} << (bits - 1)) - 1;
  const int64_t from = std::clamp(ranges.int_low, low, high);
  return {from, std::max(from, std::clamp(ranges.int_high, low, high))};
}

template <typename T>
void FillFloats(Literal& literal, uint64_t stream, const RandomRanges& ranges) {
  T* const out = literal.as<T>();
  const int64_t count = literal.byte_size() / static_cast<int64_t>(sizeof(T));
  // Rounding must not reach the upper end.
  const T most =
      std::nextafter(static_cast<T>(ranges.float_high), static_cast<T>(ranges.float_low));
  for (int64_t i = 0; i < count; ++i)
    out[i] = std::min(static_cast<T>(Uniform(Mix(stream ^ Mix(i)), ranges)), most);
}

}  // namespace

void FillRandom(Literal& literal, uint64_t stream, const RandomRanges& ranges) {
  stream = Mix(stream);
  const ElementType type = literal.type();
  if ((ranges.large_floats || ranges.normal) && (IsFloat(type) || IsComplex(type)))
    return FillUnbounded(literal, stream, ranges.normal);
  switch (type) {
    case ElementType::kF32:
    case ElementType::kC64:
      return FillFloats<float>(literal, stream, ranges);
    case ElementType::kF64:
    case ElementType::kC128:
      return FillFloats<double>(literal, stream, ranges);
    default:
      break;
  }
  const int64_t count = literal.element_count();
  if (IsFloat(type)) {
    for (int64_t i = 0; i < count; ++i) literal.SetDouble(i, Uniform(Mix(stream ^ Mix(i)), ranges));
    return;
  }
  if (IsPred(type)) {
    for (int64_t i = 0; i < count; ++i)
      literal.SetInt(i, static_cast<int64_t>(Mix(stream ^ Mix(i)) >> 63));
    return;
  }
  const auto [low, high] = Cut(type, ranges);
  const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = Mix(stream ^ Mix(i));
    literal.SetInt(
        i, static_cast<int64_t>(static_cast<uint64_t>(low) + (span == 0 ? bits : bits % span)));
  }
}

absl::Status CheckFits(absl::Span<const Shape* const> shapes) {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  double bytes = 0;
  for (const Shape* shape : shapes)
    for (const ShapeLeaf& leaf : Leaves(*shape))
      if (leaf.shape->IsArray())
        bytes += static_cast<double>(leaf.shape->ElementCount()) * ByteWidth(leaf.shape->type);
  if (bytes <= memory) return absl::OkStatus();
  return ResourceExhausted(
      absl::StrFormat("arrays of %.0f MiB do not fit into this machine's %.0f MiB of memory",
                      std::ceil(bytes / (1 << 20)), std::floor(memory / (1 << 20))));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
