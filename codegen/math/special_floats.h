// Floats at which functions change their ways or overflow: for tests of accuracy.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace hlokit {

// Zero, the ends of T's ranges, NaN, small integers and fractions, and both neighbours of where
// trigonometric and exponential functions turn; each with either sign.
template <typename T>
std::vector<T> SpecialFloats() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           L::denorm_min(),
                           L::min(),
                           L::max(),
                           L::infinity(),
                           L::quiet_NaN(),
                           L::epsilon(),
                           2,
                           3,
                           8,
                           100,
                           T(0.25),
                           T(1.5),
                           T(2.5),
                           T(1) / 3,
                           T(4.0 / 3),
                           T(1e-3),
                           T(1e10),
                           T(1e22)};
  for (T v : {T(1), T(0.5), T(M_PI_2), T(M_PI), T(88.72284), T(709.782712893384), T(87.33655),
              T(103.97), T(745.13)})
    values.insert(values.end(), {v, std::nextafter(v, T(0)), std::nextafter(v, T(1000))});
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
