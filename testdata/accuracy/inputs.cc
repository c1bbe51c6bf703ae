// Values from a hash of their number.
#include "testdata/accuracy/inputs.h"

#include <bit>
#include <cmath>
#include <vector>

#include "codegen/math/special_floats.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

uint64_t Hash(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// In (-1, 1).
double Unit(uint64_t hash) { return static_cast<double>(static_cast<int64_t>(hash)) * 0x1p-63; }

template <typename T>
std::vector<double> Specials() {
  const std::vector<T> values = SpecialFloats<T>();
  return {values.begin(), values.end()};
}

double AnyDouble(uint64_t hash) {
  const uint64_t more = Hash(hash);
  switch (hash % 8) {
    case 0:
    case 1:
      return std::bit_cast<double>(more);
    case 2:  // near 1
      return 1 + std::ldexp(Unit(more), -static_cast<int>(hash / 8 % 52));
    case 3:  // near a multiple of pi / 2
      return static_cast<double>(more >> (20 + hash / 8 % 44)) * M_PI_2 *
             (1 + static_cast<double>(hash / 512 % 8) * 0x1p-52);
    case 4:
      return 750 * Unit(more);
    case 5:
      return std::ldexp(Unit(more), -static_cast<int>(hash / 8 % 60));
    default:
      return std::ldexp(Unit(more), static_cast<int>(hash / 8 % 16) - 4);
  }
}

double ToFloat(double x) { return static_cast<float>(x); }

double Part(uint64_t hash) {
  const uint64_t more = Hash(hash);
  switch (hash % 16) {
    case 0:
      return hash / 16 % 2 != 0 ? 0.0 : -0.0;
    case 1:
      return std::copysign(1.0, Unit(more));
    case 2:
    case 3:
      return std::copysign(1.0, Unit(more)) *
             (1 + std::ldexp(Unit(hash), -static_cast<int>(more % 50)));
    case 4:
    case 5:
    case 6:
      return std::ldexp(Unit(more), static_cast<int>(hash / 16 % 120) - 60);
    default:
      return std::ldexp(Unit(more), static_cast<int>(hash / 16 % 10) - 4);
  }
}

}  // namespace

int64_t FloatCount(int64_t stride) { return ((int64_t{1} << 32) + stride - 1) / stride; }

Pair FloatPair(int64_t i, int64_t stride) {
  static const std::vector<double>* const specials = new auto(Specials<float>());
  const uint64_t hash = Hash(i);
  const double x = std::bit_cast<float>(static_cast<uint32_t>(i * stride));
  if (hash % 16 == 0) return {x, (*specials)[hash / 16 % specials->size()]};
  if (hash % 16 < 4) return {x, std::bit_cast<float>(static_cast<uint32_t>(hash >> 32))};
  return {x, ToFloat(AnyDouble(hash / 16))};
}

Pair DoublePair(int64_t i) {
  static const std::vector<double>* const specials = new auto(Specials<double>());
  const int64_t count = static_cast<int64_t>(specials->size());
  if (i < count * count) return {(*specials)[i / count], (*specials)[i % count]};
  const uint64_t hash = Hash(i);
  const double x = AnyDouble(hash);
  if (hash / 64 % 8 == 0) return {x, std::nearbyint(16 * Unit(Hash(hash ^ 1)))};
  if (hash / 64 % 8 == 1) return {x, x * (1 + 0x1p-50 * static_cast<double>(hash / 512 % 16))};
  return {x, AnyDouble(Hash(hash ^ 2))};
}

int64_t SmallCount(ElementType type, int arity) {
  const int64_t patterns = int64_t{1} << BitWidth(type);
  if (arity == 1) return patterns;
  return patterns <= 256 ? patterns * patterns : patterns * 16;
}

Pair SmallPair(ElementType type, int64_t i, int arity) {
  const int64_t patterns = int64_t{1} << BitWidth(type);
  const int64_t other = arity == 1 ? 0 : patterns <= 256 ? i / patterns : Hash(i) % patterns;
  return {FloatFromBits(type, i % patterns), FloatFromBits(type, other)};
}

ComplexPair ComplexInput(int64_t i, bool narrow) {
  double parts[4];
  for (int p = 0; p < 4; ++p) {
    parts[p] = Part(Hash(4 * i + p));
    if (narrow) parts[p] = ToFloat(parts[p]);
  }
  return {{parts[0], parts[1]}, {parts[2], parts[3]}};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
