// Plans of one-dimensional transforms, and the kernels that carry them out.
#pragma once

#include <stdint.h>

#include <memory>
#include <vector>

namespace hlokit {

// Stockham's algorithm: one pass for each factor, from one buffer to the other.
template <typename T>
struct FftPass {
  int64_t radix;
  int64_t groups;               // butterflies with different twiddles: remaining length / radix
  std::vector<T> cosine, sine;  // [groups][radix]: exp(-2 pi i p k / (groups * radix))
  std::vector<T> root_cosine,
      root_sine;  // [radix]: exp(-2 pi i k / radix), for radices without code of their own
};

// Transforms lines of n complex numbers that are interleaved: number j of line b lies at [j * lines
// + b].
template <typename T>
struct FftPlan {
  int64_t n = 0;
  std::vector<FftPass<T>> passes;  // empty if `chirp` does the work (or n is 1)
  // Bluestein: n has a large prime factor; a convolution of length `inner->n`.
  std::shared_ptr<const FftPlan> inner;
  std::vector<T> chirp_cosine, chirp_sine;  // [n]: exp(-pi i j^2 / n)
  std::vector<T> filter_cosine,
      filter_sine;  // [inner n]: transform of the conjugate chirp, divided by inner n
};

// The plan for length n, made once. Plans of large prime factors exist in double precision alone.
template <typename T>
std::shared_ptr<const FftPlan<T>> FindFftPlan(int64_t n);
bool NeedsBluestein(int64_t n);

// exp(-2 pi i k / n) for k in [0, n / 2].
template <typename T>
struct FftTurns {
  std::vector<T> cosine, sine;
};

// Made once, as plans are.
template <typename T>
std::shared_ptr<const FftTurns<T>> FindFftTurns(int64_t n);

// A number of lanes, as a type.
template <int kWidth>
struct FftWidth {
  static constexpr int kLanes = kWidth;
};

// The loops over buffers of `lines` interleaved lines: number j of line i lies at [j * lines + i].
template <typename T>
struct FftKernels {
  // One pass; `stride` is the number of lines times the radices of the passes before.
  void (*pass)(const FftPass<T>& pass, int64_t stride, const T* re, const T* im, T* to_re,
               T* to_im);
  // n complex numbers of each line, which lie side by side; lines are `pitch` reals apart.
  void (*take_lines)(const T* from, int64_t pitch, int64_t n, int64_t lines, T* re, T* im);
  void (*give_lines)(T* to, int64_t pitch, int64_t n, int64_t lines, const T* re, const T* im,
                     T scale);
  // The first `count` lines, whose numbers j lie side by side, `step` reals from the numbers j + 1.
  void (*take_across)(const T* from, int64_t step, int64_t n, int64_t count, int64_t lines, T* re,
                      T* im);
  void (*give_across)(T* to, int64_t step, int64_t n, int64_t count, int64_t lines, const T* re,
                      const T* im, T scale);
  // Coefficients 0 to `half` of real lines from the transforms of `half` complex numbers that have
  // even elements as real parts and odd ones as imaginary parts; and back, before a transform.
  void (*untangle)(const FftTurns<T>& turns, int64_t half, int64_t lines, const T* re, const T* im,
                   T* to_re, T* to_im);
  void (*tangle)(const FftTurns<T>& turns, int64_t half, int64_t lines, const T* re, const T* im,
                 T* to_re, T* to_im);
};

struct FftIsa {
  FftKernels<float> f32;
  FftKernels<double> f64;
};
namespace isa_base {
extern const FftIsa kFft;
}
namespace isa_avx2 {
extern const FftIsa kFft;
}
namespace isa_avx512 {
extern const FftIsa kFft;
}

// Those of this machine's instruction set.
template <typename T>
const FftKernels<T>& FindFftKernels();

// Two buffers of split complex numbers, n * lines each.
template <typename T>
struct FftBuffers {
  T *re, *im, *spare_re, *spare_im;
};

// Forward transform of the lines in re and im; the result is in re and im again (the pointers may
// swap with the spares). An inverse transform is a forward one with re and im exchanged.
// Bluestein's work space is allocated inside: false if memory is short.
template <typename T>
bool RunFft(const FftPlan<T>& plan, int64_t lines, FftBuffers<T>& buffers);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
