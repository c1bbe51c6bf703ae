// Fast Fourier transforms.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum HlokitFftType { HLOKIT_FFT = 0, HLOKIT_IFFT = 1, HLOKIT_RFFT = 2, HLOKIT_IRFFT = 3 };
enum { HLOKIT_MAX_FFT_DIMS = 3 };

typedef struct HlokitFftDesc {
  int64_t fft_type;          // HlokitFftType
  int64_t double_precision;  // 0: f32 and c64; 1: f64 and c128
  int64_t batch;             // transforms
  int64_t rank;  // dimensions of each, 1 to 3: the last ones of the dense, row-major arrays
  int64_t
      length[HLOKIT_MAX_FFT_DIMS];  // fft_length, in elements of the real array for RFFT and IRFFT
} HlokitFftDesc;

// Forward transforms are not scaled, inverse ones by 1 / (product of lengths). RFFT takes reals and
// keeps length / 2 + 1 complex numbers of the last dimension; IRFFT takes those (the imaginary
// parts of the first and, at even length, the last are ignored) and gives reals. Any lengths:
// factors 2, 3, 4, 5, 7, 11 and 13 directly, others by Bluestein's algorithm. `from` and `to` must
// not overlap, except that FFT and IFFT may work in place. Errors: a type or rank out of range, a
// length below 1, memory short.
void hlokit_fft(void* ctx, const HlokitFftDesc* desc, const void* from, void* to);

#ifdef __cplusplus
}  // extern "C"
#endif
// SPDX-License-Identifier: Apache-2.0
