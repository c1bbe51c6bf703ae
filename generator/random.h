// The generator's source of chance: a stream of numbers that a seed fixes for good.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "absl/types/span.h"

namespace hlokit {

// splitmix64; the same on every machine, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Bits() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Bits() % static_cast<uint64_t>(high - low + 1));
  }
  // Uniform in [low, high).
  double Real(double low, double high) {
    return low + static_cast<double>(Bits() >> 11) * 0x1p-53 * (high - low);
  }
  bool Chance(double probability) { return Real(0, 1) < probability; }
  // One of a list that is not empty.
  template <typename List>
  const auto& OneOf(const List& list) {
    return *(std::begin(list) + Between(0, static_cast<int64_t>(std::size(list)) - 1));
  }
  template <typename T>
  T OneOf(std::initializer_list<T> list) {
    return *(list.begin() + Between(0, static_cast<int64_t>(list.size()) - 1));
  }
  template <typename List>
  void Shuffle(List& list) {
    for (int64_t i = static_cast<int64_t>(list.size()) - 1; i > 0; --i)
      std::swap(list[i], list[Between(0, i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
