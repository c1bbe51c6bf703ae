// The processor's mode that takes subnormal operands for zero and makes no subnormal results.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hlokit {

// Sets the mode on this thread while it lives, if `flush`; parallel loops pass it on to their
// threads. Does nothing on processors other than x86-64.
class ScopedFlushDenormals {
 public:
  explicit ScopedFlushDenormals(bool flush) {
#if defined(__x86_64__)
    before_ = _mm_getcsr();
    if (flush) _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | kDenormalsAreZero);
#else
    (void)flush;
#endif
  }
  ~ScopedFlushDenormals() {
#if defined(__x86_64__)
    _mm_setcsr(before_);
#endif
  }
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;

 private:
  static constexpr uint32_t kDenormalsAreZero = 0x0040;
  uint32_t before_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
