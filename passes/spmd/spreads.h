// Shardings as propagation computes with them: how often each dimension is cut, and who holds what.
//   {devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}   tiles 2,1; copies 2; devices 0,1,2,3
#pragma once

#include <optional>
#include <vector>

#include "ir/instruction.h"

namespace hlokit {

// The sharding of one array; unknown is a leaf of a tuple of which other leaves are known. Devices
// are listed row-major over the tiles, then over the groups of a manual subgroup, then over those
// that hold copies, which stand in ascending order.
struct Spread {
  enum class Kind : uint8_t { kReplicated, kMaximal, kManual, kTiled, kUnknown, kOther };
  Kind kind = Kind::kReplicated;
  static Spread Unknown() {
    Spread s;
    s.kind = Kind::kUnknown;
    return s;
  }
  int64_t device = 0;            // kMaximal
  DimVector tiles;               // kTiled: a number for each dimension
  int64_t manual = 1;            // kTiled: groups of a manual subgroup; 1: there is none
  int64_t copies = 1;            // kTiled
  std::vector<int64_t> devices;  // kTiled
  Sharding other;                // kOther: what is not understood, kept as it is
  bool operator==(const Spread&) const = default;

  bool IsTiled() const { return kind == Kind::kTiled; }
  bool IsReplicated() const { return kind == Kind::kReplicated; }
  bool IsManual() const { return kind == Kind::kManual; }
  // Each device that takes part holds the whole array.
  bool IsTileMaximal() const { return kind == Kind::kReplicated || kind == Kind::kMaximal; }
};

// Of each leaf of an instruction's shape; empty where nothing is known.
using Spreads = std::vector<Spread>;

// What a sharding says of an array, and of each leaf of a shape.
Spread SpreadOf(const Sharding& sharding, const Shape& shape);
Spreads SpreadsOf(const Sharding* sharding, const Shape& shape);
Sharding ShardingOf(const Spread& spread);
Sharding ShardingOf(const Spreads& spreads, const Shape& shape);
// How many arrays and tokens a shape holds, and how many shardings: one also where it holds none,
// for () and ((), ()).
int64_t ArrayLeafCount(const Shape& shape);
int64_t LeafCount(const Shape& shape);

int64_t TileCount(const Spread& spread);
// A tiled spread in its one form: copies ascending, replicated where nothing is cut.
Spread Tiled(DimVector tiles, int64_t manual, int64_t copies, std::vector<int64_t> devices);
// Those along `dims` hold copies; along all but `dims`; along all, of an array of that rank.
Spread ReplicatedOn(const Spread& spread, absl::Span<const int64_t> dims);
Spread ReplicatedExcept(const Spread& spread, absl::Span<const int64_t> dims);
Spread ReplicatedAll(const Spread& spread, int64_t rank);
// The spread of an array of `rank` dimensions whose dimension to[d] goes along dimension d; where
// to[d] is -1 devices hold copies.
Spread MovedTo(const Spread& spread, absl::Span<const int64_t> to, int64_t rank);
Spread Reversed(const Spread& spread, absl::Span<const int64_t> dims);
// Along a reshape: dimensions that split or join pass on what stays contiguous; the rest is copied.
Spread Reshaped(const Spread& spread, const Shape& from, const Shape& to);

bool IsMoreSpecific(const Spread& a, const Spread& b);
bool IsMoreSpecific(const Spreads& a, const Spreads& b);
// `into` refined by `other` where both cut alike what both cut, and at least `least` tiles come of
// it; whether it changed.
bool MergeIfCompatible(const Spread& other, int64_t least, Spread& into);
// What is better of `old` and `made`, in `made`: both merged where they hold copies and `combine`.
// Whether it is better than `old`.
bool Merge(const Spread& old, Spread& made, bool combine);
bool Merge(const Spreads& old, Spreads& made, bool combine);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
