// Asks the processor what it has.
#include "runtime/cpu_features.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace hlokit {
namespace {

#if defined(__x86_64__)
Isa Detect() {
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
}
#endif

}  // namespace

#if defined(__x86_64__)

Isa BestIsa() {
  static const Isa isa = Detect();
  return isa;
}

bool HasBf16Products() {
  static const bool has = BestIsa() == Isa::kAvx512 && __builtin_cpu_supports("avx512bf16") &&
                          !__builtin_cpu_is("intel");
  return has;
}

bool HasIntegerProducts() {
  static const bool has = BestIsa() == Isa::kAvx512 && __builtin_cpu_supports("avx512vnni");
  return has;
}

#else
Isa BestIsa() { return Isa::kBase; }
bool HasBf16Products() { return false; }
bool HasIntegerProducts() { return false; }
#endif

int64_t SecondLevelBytes() {
  static const int64_t bytes = [] {
    const long known = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return known > 0 ? int64_t{known} : int64_t{1} << 20;
  }();
  return bytes;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
