// The block functions of the generators, one compiled variant per instruction set.
#pragma once

#include <stdint.h>

namespace hlokit {

// Philox-4x32 with 10 rounds of counters (low, high), (low + 1, high), ...: `blocks` blocks of four
// words each. The low word must not wrap within them.
using PhiloxKernel = void (*)(uint64_t key, uint64_t low, uint64_t high, int64_t blocks,
                              uint32_t* out);
// Threefry-2x32 with 20 rounds of counters counter, counter + 1, ...: the two words of each go to
// `first` and `second`.
using ThreeFryKernel = void (*)(uint64_t key, uint64_t counter, int64_t count, uint32_t* first,
                                uint32_t* second);

struct RngKernels {
  PhiloxKernel philox;
  ThreeFryKernel three_fry;
};
namespace isa_base {
extern const RngKernels kRng;
}
namespace isa_avx2 {
extern const RngKernels kRng;
}
namespace isa_avx512 {
extern const RngKernels kRng;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
