// Which of the compiled kernel variants this machine runs.
#pragma once

#include <stdint.h>

namespace hlokit {

// On machines other than x86-64 there is only kBase.
enum class Isa { kBase, kAvx2, kAvx512 };

// The widest variant the processor has; HLOKIT_MAX_ISA=base|avx2 narrows it.
Isa BestIsa();

// Whether kAvx512 comes with products of bf16 pairs that are faster than those of floats. Intel's
// are not: one in two cycles, where multiply-adds of floats start two in one.
bool HasBf16Products();
// And of pairs of 16-bit integers.
bool HasIntegerProducts();

// Bytes of the cache that a core has for itself; 1 MiB where the system does not say.
int64_t SecondLevelBytes();

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
