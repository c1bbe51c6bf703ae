// What asynchronous instructions share: mbarriers, addresses in columns, combining in memory.
#pragma once

#include <bit>
#include <cstdint>

#include "ptxsim/bind_internal.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {

// An mbarrier's word: arrivals expected a phase, those still pending, bytes still on their way, and
// the phase's parity. The ISA leaves the form open.
struct Mbarrier {
  uint64_t expected : 20;
  uint64_t pending : 20;
  int64_t bytes : 23;
  uint64_t phase : 1;

  void CompleteIfDone() {
    if (pending != 0 || bytes != 0) return;
    phase ^= 1;
    pending = expected;
  }
  // complete_tx: `count` bytes have come.
  void Complete(int64_t count) {
    bytes -= count;
    CompleteIfDone();
  }
};
static_assert(sizeof(Mbarrier) == 8);

// The mbarrier at an address of shared memory; null after a fault. `is_new`: nothing need have
// been written there.
Mbarrier* MbarrierAt(const Op& op, Warp& warp, int lane, uint64_t address, Space space,
                     bool is_new = false);

// An address operand: a column of 64-bit lanes and what is added to it.
struct AddressColumn {
  uint32_t at = kNoSlot;
  int64_t offset = 0;
  Space space = Space::kGeneric;

  uint64_t Of(const std::byte* frame, int lane) const {
    return In<uint64_t>(frame, at)[lane] + static_cast<uint64_t>(offset);
  }
};
AddressColumn AddressColumnOf(Binder& b, const Operand& operand, Space space);

// `address` of the block's own shared memory as the same place of block `rank` of its cluster.
inline uint64_t SharedOfRank(uint64_t address, uint32_t rank) {
  return (address & ((1 << kSharedRankShift) - 1)) | uint64_t{rank + 1} << kSharedRankShift;
}

// Combines the element at `operand` into the one at `at`: what red does.
using Combine = void (*)(std::byte* at, const std::byte* operand);
// By the instruction's .add, .min, ... and `type`; null where there is none.
Combine CombineOf(const Binder& b, Type type);
// The same by name.
Combine CombineNamed(absl::string_view name, Type type);

void BindCopyBulk(Binder& b);
void BindCopyTensor(Binder& b);
void BindStoreAsync(Binder& b);
void BindReduceAsync(Binder& b);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
