// Values of special registers: places in the grid, lane masks, clocks. Clocks count the warp's ops,
// so that runs repeat.
#include "ptxsim/special.h"

#include <iterator>

#include "ptxsim/block.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {
namespace {

struct SpecialRow {
  absl::string_view text;
  int bytes;
};

constexpr SpecialRow kSpecials[] = {
#define HLOKIT_PTX_SPECIAL(text, name, bytes) {text, bytes},
#include "ptxsim/special.def"
#undef HLOKIT_PTX_SPECIAL
};

constexpr uint64_t kNanosecondsPerStep = 1;

uint32_t MaskBelow(int lane) { return (uint32_t{1} << lane) - 1; }

// Registers that differ from lane to lane.
uint64_t LaneValue(Special special, const uint32_t* size, uint32_t thread, int lane) {
  const uint32_t self = uint32_t{1} << lane;
  switch (special) {
    case Special::kTidX:
      return thread % size[0];
    case Special::kTidY:
      return thread / size[0] % size[1];
    case Special::kTidZ:
      return thread / size[0] / size[1];
    case Special::kLaneId:
      return static_cast<uint64_t>(lane);
    case Special::kLanemaskEq:
      return self;
    case Special::kLanemaskLt:
      return MaskBelow(lane);
    case Special::kLanemaskLe:
      return MaskBelow(lane) | self;
    case Special::kLanemaskGt:
      return ~(MaskBelow(lane) | self);
    default:
      return ~MaskBelow(lane);
  }
}

// tid, laneid and the lane masks; all others are one value for the warp.
bool DiffersByLane(Special special) {
  switch (special) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ:
    case Special::kLaneId:
    case Special::kLanemaskEq:
    case Special::kLanemaskLt:
    case Special::kLanemaskLe:
    case Special::kLanemaskGt:
    case Special::kLanemaskGe:
      return true;
    default:
      return false;
  }
}

uint64_t WarpValue(Special special, Warp& warp) {
  Block& block = warp.block();
  const LaunchOptions& options = block.options();
  switch (special) {
    case Special::kNtidX:
      return options.block[0];
    case Special::kNtidY:
      return options.block[1];
    case Special::kNtidZ:
      return options.block[2];
    case Special::kCtaidX:
      return block.block_id()[0];
    case Special::kClusteridX:
      return block.block_id()[0] / options.cluster[0];
    case Special::kClusterCtaidX:
      return block.block_id()[0] % options.cluster[0];
    case Special::kClusterNctaidX:
      return options.cluster[0];
    case Special::kCtaidY:
      return block.block_id()[1];
    case Special::kClusteridY:
      return block.block_id()[1] / options.cluster[1];
    case Special::kClusterCtaidY:
      return block.block_id()[1] % options.cluster[1];
    case Special::kClusterNctaidY:
      return options.cluster[1];
    case Special::kCtaidZ:
      return block.block_id()[2];
    case Special::kClusteridZ:
      return block.block_id()[2] / options.cluster[2];
    case Special::kClusterCtaidZ:
      return block.block_id()[2] % options.cluster[2];
    case Special::kClusterNctaidZ:
      return options.cluster[2];
    case Special::kNctaidX:
      return options.grid[0];
    case Special::kNclusteridX:
      return options.grid[0] / options.cluster[0];
    case Special::kNctaidY:
      return options.grid[1];
    case Special::kNclusteridY:
      return options.grid[1] / options.cluster[1];
    case Special::kNctaidZ:
      return options.grid[2];
    case Special::kNclusteridZ:
      return options.grid[2] / options.cluster[2];
    case Special::kWarpId:
      return static_cast<uint64_t>(warp.index());
    case Special::kNWarpId:
      return 64;  // of a multiprocessor
    case Special::kClusterCtarank:
      return static_cast<uint64_t>(block.rank());
    case Special::kClusterNctarank:
      return static_cast<uint64_t>(block.cluster().size());
    case Special::kIsExplicitCluster:
      return block.cluster().size() > 1;
    case Special::kNSmId:
      return 1;
    case Special::kClock:
      return static_cast<uint32_t>(warp.now());
    case Special::kClockHi:
      return static_cast<uint64_t>(warp.now()) >> 32;
    case Special::kClock64:
      return static_cast<uint64_t>(warp.now());
    case Special::kGlobalTimer:
      return static_cast<uint64_t>(warp.now()) * kNanosecondsPerStep;
    case Special::kGlobalTimerLo:
      return static_cast<uint32_t>(warp.now());
    case Special::kGlobalTimerHi:
      return static_cast<uint64_t>(warp.now()) >> 32;
    case Special::kDynamicSmemSize:
      return static_cast<uint64_t>(options.dynamic_shared);
    case Special::kTotalSmemSize:
      return static_cast<uint64_t>(block.shared_bytes());
    case Special::kAggrSmemSize:  // with what the driver keeps for itself
      return static_cast<uint64_t>(block.shared_bytes()) + 1024;
    default:
      return 0;
  }
}

}  // namespace

std::optional<Special> SpecialNamed(absl::string_view text) {
  for (size_t i = 0; i < std::size(kSpecials); ++i)
    if (kSpecials[i].text == text) return static_cast<Special>(i);
  return std::nullopt;
}

int BytesOf(Special special) { return kSpecials[static_cast<size_t>(special)].bytes; }

void ReadSpecial(const Op& op, Warp& warp, LaneMask) {
  const auto special = static_cast<Special>(op.mode);
  const int bytes = BytesOf(special);
  if (bytes == 0) {
    *Out<LaneMask>(warp.frame(), op.d) = WarpValue(special, warp) != 0 ? kAllLanes : 0;
    return;
  }
  const bool by_lane = DiffersByLane(special);
  const uint64_t value = by_lane ? 0 : WarpValue(special, warp);
  const uint32_t* size = warp.block().options().block;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t lane =
        by_lane ? LaneValue(special, size, static_cast<uint32_t>(warp.ThreadOf(i)), i) : value;
    std::memcpy(warp.frame() + op.d + i * bytes, &lane, static_cast<size_t>(bytes));
  }
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
