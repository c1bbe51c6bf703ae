// Asks the processor what it has.
#include "runtime/cpu_features.h"

#include <unistd.h>

namespace hlokit {

#if defined(__x86_64__)

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
