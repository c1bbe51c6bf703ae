// Two custom calls of one's own; README.md says how to build and run them.
#include <cmath>

#include "ffi/hlokit_ffi.h"

namespace {

using hlokit_ffi::Buffer;
using hlokit_ffi::Result;

// y = factor * x + y0, for vectors.
std::string ScaleAndAdd(Buffer<float, 1> x, Buffer<float, 1> y0, double factor,
                        Result<float, 1> y) {
  if (x.size() != y0.size() || x.size() != y.size()) return "x and y differ in size";
  for (int64_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>(factor) * x[i] + y0[i];
  return "";
}

// The Euclidean norm of each row, and the number of the largest. Rows may lie in any layout.
std::string RowNorms(Buffer<double, 2> x, Result<double, 1> norms, Result<int32_t, 0> largest) {
  const bool row_major = x.raw().minor_to_major[0] == 1;
  const int64_t row = row_major ? x.dim(1) : 1, column = row_major ? 1 : x.dim(0);
  if (x.dim(0) == 0) return "no rows";
  for (int64_t i = 0; i < x.dim(0); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < x.dim(1); ++j) sum += x[i * row + j * column] * x[i * row + j * column];
    norms[i] = std::sqrt(sum);
    if (norms[i] > norms[largest[0]]) largest[0] = static_cast<int32_t>(i);
  }
  return "";
}

}  // namespace

// XLA's first interface: the symbol is the target. z[0][0] = x[1] + y[1][0].
extern "C" __attribute__((visibility("default"))) void example_plain(void* out, const void** in) {
  const float* x = static_cast<const float*>(in[0]);
  const float* y = static_cast<const float*>(in[1]);
  static_cast<float*>(out)[0] = x[1] + y[3];
}

HLOKIT_FFI_BEGIN
HLOKIT_FFI_CALL("example.scale_and_add", ScaleAndAdd, "factor")
HLOKIT_FFI_CALL("example.row_norms", RowNorms)
HLOKIT_FFI_END
// SPDX-License-Identifier: Apache-2.0
