// Runs one operation on one platform over many inputs and finds where it is furthest off.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "testdata/accuracy/functions.h"
#include "testdata/accuracy/inputs.h"

namespace hlokit {

// The largest error of one operation in one type on one platform.
struct Worst {
  // In units of the last place of the true value (real), or of 2^-p times its magnitude (complex);
  // infinite where NaNs, infinities or the signs of zeros differ. For types of 16 bits and less:
  // how many ulps of f32 the f32 result behind the value must have been off, 3 standing for more
  // than 2.
  double error = 0;
  std::string where;  // input, value, true value
  int64_t count = 0;  // values looked at
};

struct SweepOptions {
  int64_t float_stride = 257;
  int64_t double_count = 10'000'000;
  int64_t complex_count = 50'000;
  bool mpfr = true;  // f64 against MPFR, else against long double libm
  // MPFR only for special values, for every 64th, which libm must agree with, and where libm says
  // that a result is near the worst so far, or beyond.
  bool screened = true;
  int threads = 2;  // that compute references
};

// One row a platform, in the order given. Errors are those of compiling and running.
absl::StatusOr<std::vector<Worst>> MeasureReal(const RealFunction& function, ElementType type,
                                               absl::Span<Backend* const> platforms,
                                               const SweepOptions& options);
absl::StatusOr<std::vector<Worst>> MeasureComplex(const ComplexFunction& function, ElementType type,
                                                  absl::Span<Backend* const> platforms,
                                                  const SweepOptions& options);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
