// Packing: offsets in one arena for buffers that live at known times.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace hlokit {

// Bytes to which offsets and sizes in an arena are rounded.
inline constexpr int64_t kArenaAlignment = 64;
// `bytes` rounded up.
int64_t ArenaSize(int64_t bytes);

// A buffer, alive from the time `begin` to the time `end`, both included.
struct BufferLife {
  int64_t begin = 0, end = 0;
  int64_t size = 0;    // bytes
  int64_t offset = 0;  // where PackBuffers puts it
};

// Gives each buffer an offset such that no two that live at one time overlap; returns the size of
// the arena. Of several orders and fits the best one found is taken; none can be smaller than
// `live_peak`, the most that lives at once. Cost: n^2 for up to some thousand buffers, n log n and
// a looser fit above.
int64_t PackBuffers(absl::Span<BufferLife> buffers, int64_t live_peak);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
