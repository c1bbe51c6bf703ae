// Lines of complex numbers into buffers of interleaved lines and back, and the steps between a real
// line and the complex one of half its length. The including file defines HLOKIT_ISA and
// HLOKIT_VECTOR_BYTES.
#pragma once

#include "runtime/fft/fft_internal.h"
#include "runtime/lanes_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

template <typename T>
constexpr int kMaxLanes = HLOKIT_VECTOR_BYTES / sizeof(T);

// A tile of kLanes lines and kLanes / 2 numbers of each.
template <int kLanes, typename T>
HLOKIT_INLINE void TakeSquare(const T* from, int64_t pitch, T* re, T* im, int64_t lines) {
  typename Lanes<T, kLanes>::Type rows[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) rows[i] = LoadLanes<kLanes>(from + i * pitch);
  TransposeRows<T, kLanes>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    StoreLanes<kLanes>((i % 2 == 0 ? re : im) + i / 2 * lines, rows[i]);
}

template <int kLanes, typename T>
HLOKIT_INLINE void GiveSquare(T* to, int64_t pitch, const T* re, const T* im, int64_t lines,
                              T scale) {
  typename Lanes<T, kLanes>::Type rows[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    rows[i] = scale * LoadLanes<kLanes>((i % 2 == 0 ? re : im) + i / 2 * lines);
  TransposeRows<T, kLanes>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) StoreLanes<kLanes>(to + i * pitch, rows[i]);
}

// Calls tile(width, i, j) for tiles that cover lines and numbers, and one(i, j) for the rest.
template <typename T, typename TileBody, typename One>
HLOKIT_INLINE void ForTiles(int64_t lines, int64_t n, const TileBody& tile, const One& one) {
  constexpr int kLanes = kMaxLanes<T>;
  int64_t i = 0;
  const auto some = [&](auto width) __attribute__((always_inline)) {
    constexpr int kWidth = decltype(width)::kLanes;
    for (; i + kWidth <= lines; i += kWidth) {
      int64_t j = 0;
      for (; j + kWidth / 2 <= n; j += kWidth / 2) tile(width, i, j);
      for (; j < n; ++j)
        for (int64_t k = i; k < i + kWidth; ++k) one(k, j);
    }
  };
  some(FftWidth<kLanes>());
  if constexpr (kLanes > 2) some(FftWidth<kLanes / 2>());
  for (; i < lines; ++i)
    for (int64_t j = 0; j < n; ++j) one(i, j);
}

template <typename T>
void TakeLines(const T* from, int64_t pitch, int64_t n, int64_t lines, T* re, T* im) {
  ForTiles<T>(
      lines, n,
      [&](auto width, int64_t i, int64_t j) __attribute__((always_inline)) {
        TakeSquare<decltype(width)::kLanes>(from + i * pitch + 2 * j, pitch, re + j * lines + i,
                                            im + j * lines + i, lines);
      },
      [&](int64_t i, int64_t j) __attribute__((always_inline)) {
        re[j * lines + i] = from[i * pitch + 2 * j];
        im[j * lines + i] = from[i * pitch + 2 * j + 1];
      });
}

template <typename T>
void GiveLines(T* to, int64_t pitch, int64_t n, int64_t lines, const T* re, const T* im, T scale) {
  ForTiles<T>(
      lines, n,
      [&](auto width, int64_t i, int64_t j) __attribute__((always_inline)) {
        GiveSquare<decltype(width)::kLanes>(to + i * pitch + 2 * j, pitch, re + j * lines + i,
                                            im + j * lines + i, lines, scale);
      },
      [&](int64_t i, int64_t j) __attribute__((always_inline)) {
        to[i * pitch + 2 * j] = re[j * lines + i] * scale;
        to[i * pitch + 2 * j + 1] = im[j * lines + i] * scale;
      });
}

template <typename T>
void TakeAcross(const T* from, int64_t step, int64_t n, int64_t count, int64_t lines,
                T* __restrict re, T* __restrict im) {
  for (int64_t j = 0; j < n; ++j) {
    const T* x = from + j * step;
    for (int64_t i = 0; i < count; ++i) {
      re[j * lines + i] = x[2 * i];
      im[j * lines + i] = x[2 * i + 1];
    }
  }
}

template <typename T>
void GiveAcross(T* __restrict to, int64_t step, int64_t n, int64_t count, int64_t lines,
                const T* __restrict re, const T* __restrict im, T scale) {
  for (int64_t j = 0; j < n; ++j) {
    T* x = to + j * step;
    for (int64_t i = 0; i < count; ++i) {
      x[2 * i] = re[j * lines + i] * scale;
      x[2 * i + 1] = im[j * lines + i] * scale;
    }
  }
}

// A line's even elements went in as real parts, its odd ones as imaginary parts.
template <typename T>
void Untangle(const FftTurns<T>& turns, int64_t half, int64_t lines, const T* re, const T* im,
              T* __restrict to_re, T* __restrict to_im) {
  for (int64_t k = 0; k <= half; ++k) {
    const int64_t a = k == half ? 0 : k * lines, c = k == 0 ? 0 : (half - k) * lines;
    const T cosine = turns.cosine.data()[k], sine = turns.sine.data()[k];
    for (int64_t i = 0; i < lines; ++i) {
      const T even_re = (re[a + i] + re[c + i]) / 2, even_im = (im[a + i] - im[c + i]) / 2;
      const T odd_re = (im[a + i] + im[c + i]) / 2, odd_im = (re[c + i] - re[a + i]) / 2;
      to_re[k * lines + i] = even_re + odd_re * cosine - odd_im * sine;
      to_im[k * lines + i] = even_im + odd_re * sine + odd_im * cosine;
    }
  }
}

// The inverse of Untangle; the imaginary parts of the first and the last coefficient are ignored.
template <typename T>
void Tangle(const FftTurns<T>& turns, int64_t half, int64_t lines, const T* re, const T* im,
            T* __restrict to_re, T* __restrict to_im) {
  for (int64_t k = 0; k < half; ++k) {
    const int64_t a = k * lines, c = (half - k) * lines;
    const T cosine = turns.cosine.data()[k], sine = turns.sine.data()[k];
    for (int64_t i = 0; i < lines; ++i) {
      const T a_im = k == 0 ? T(0) : im[a + i], c_im = k == 0 ? T(0) : im[c + i];
      const T even_re = (re[a + i] + re[c + i]) / 2, even_im = (a_im - c_im) / 2;
      const T rotated_re = (re[a + i] - re[c + i]) / 2, rotated_im = (a_im + c_im) / 2;
      const T odd_re = rotated_re * cosine + rotated_im * sine;
      const T odd_im = rotated_im * cosine - rotated_re * sine;
      to_re[k * lines + i] = even_re - odd_im;
      to_im[k * lines + i] = even_im + odd_re;
    }
  }
}

}  // namespace
}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
