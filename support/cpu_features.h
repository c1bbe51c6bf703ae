// Which of several compiled variants of a function this machine runs. All of it is in this header,
// so that the runtime of programs compiled ahead of time needs no library for it.
#pragma once

#include <stdlib.h>
#include <string.h>

namespace hlokit {

// On machines other than x86-64 there is only kBase.
enum class Isa { kBase, kAvx2, kAvx512 };

// The widest variant the processor has; HLOKIT_MAX_ISA=base|avx2 narrows it.
inline Isa BestIsa() {
#if defined(__x86_64__)
  static const Isa isa = [] {
    __builtin_cpu_init();
    const char* limit = getenv("HLOKIT_MAX_ISA");
    if (limit != nullptr && strcmp(limit, "base") == 0) return Isa::kBase;
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");  // f16c comes with every avx2 machine
    if (!avx2) return Isa::kBase;
    if (limit != nullptr && strcmp(limit, "avx2") == 0) return Isa::kAvx2;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 ? Isa::kAvx512 : Isa::kAvx2;
  }();
  return isa;
#else
  return Isa::kBase;
#endif
}

// The definition of `name` for BestIsa(), of those in isa_base, isa_avx2 and isa_avx512.
#if defined(__x86_64__)
#define HLOKIT_OF_BEST_ISA(name)                                    \
  (::hlokit::BestIsa() == ::hlokit::Isa::kAvx512 ? isa_avx512::name \
   : ::hlokit::BestIsa() == ::hlokit::Isa::kAvx2 ? isa_avx2::name   \
                                                 : isa_base::name)
#else
#define HLOKIT_OF_BEST_ISA(name) (isa_base::name)
#endif

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
