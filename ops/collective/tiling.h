// How an array is cut over devices.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "ir/sharding.h"
#include "types/shape.h"

namespace hlokit {

// The cut of one array. Every shard has the same shape: where a dimension does not divide evenly
// the last shards are padded with zeros, as XLA's partitioner pads them.
struct Tiling {
  DimVector tiles;               // in how many parts each dimension is cut
  std::vector<int64_t> tile_of;  // by device: the row-major number of the tile that it holds
  bool IsTrivial() const;        // each device holds the whole
};

// The whole array on each of `devices` devices.
Tiling WholeOn(const Shape& shape, int64_t devices);

// The number of tiles.
int64_t TileCount(const Tiling& tiling);
// Names the devices of a tiled sharding: in order, or as the columns of a matrix of device numbers;
// else as a list.
void SetDevices(std::vector<int64_t> order, Sharding& sharding);
// HLO's text for it: devices=[..]<=[..] where the order allows. `manual`: the groups of devices
// (ManualGroupsOf) within which the cut is; empty: there is one.
Sharding ShardingOf(const Tiling& tiling, absl::Span<const int64_t> manual = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
