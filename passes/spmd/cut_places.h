// Cuts of arrays put together, dimension by dimension, from the places that devices have in others.
//   a[8,4] cut [2,2], b[4,6] cut [2,2] on the same devices: their product's rows lie as a's, its
//   columns as b's
#pragma once

#include <optional>
#include <vector>

#include "passes/spmd/cuts.h"

namespace hlokit {

// The place of each device's tile, by device; zeros where the array is whole.
std::vector<DimVector> PlacesOf(const Cut& cut, int64_t rank, int64_t devices);

class CutAssembly {
 public:
  CutAssembly(int64_t rank, int64_t devices) : places_(devices, DimVector(rank, 0)) {
    tiles_.assign(rank, 1);
  }
  // Dimension `to` lies as dimension `from` of an array under `cut`, with `places` of that.
  void Take(int64_t to, const Cut& cut, const std::vector<DimVector>& places, int64_t from);
  // The cut under which each device has the tile at its place; nothing where some tile is on more
  // devices than another.
  std::optional<Cut> Made() const;

 private:
  std::vector<DimVector> places_;
  DimVector tiles_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
