// Shardings as arrays of devices, and what becomes of them when dimensions are moved, merged, split
// or made whole.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/instruction.h"

namespace hlokit {

using Devices = std::vector<int64_t>;
using DeviceGroups = std::vector<Devices>;

// a / b, rounded up.
inline int64_t CeilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How one array lies on devices 0 to n - 1.
struct Cut {
  enum class Kind : uint8_t { kReplicated, kDevice, kTiled, kManual };
  Kind kind = Kind::kReplicated;
  int64_t device = 0;  // kDevice: that alone has it
  DimVector tiles;     // kTiled: how many a dimension; then how many copies of each, if has_copies
  bool has_copies = false;
  Devices devices;  // kTiled: row-major over `tiles`
  // Of a value that is unreduced: groups of devices, what whose members hold adds up to it. Only
  // Sharder::To and instructions that are linear see such cuts.
  DeviceGroups sums = {};

  static Cut OnDevice(int64_t device);
  static Cut Manual();
  // Replicated where nothing is cut; without copies where there is one.
  static Cut Tiled(DimVector tiles, Devices devices, bool has_copies);

  bool IsTiled() const { return kind == Kind::kTiled; }
  bool IsReplicated() const { return kind == Kind::kReplicated; }
  bool IsManual() const { return kind == Kind::kManual; }
  bool HasOneDevice() const { return kind == Kind::kDevice; }
  int64_t rank() const { return static_cast<int64_t>(tiles.size()) - (has_copies ? 1 : 0); }
  int64_t Dim(int64_t d) const { return IsTiled() ? tiles[d] : 1; }
  int64_t Copies() const { return has_copies ? tiles.back() : 1; }
  int64_t NumTiles() const;
  // fn(place, device), copies included in the place.
  void ForEach(const std::function<void(const DimVector&, int64_t)>& fn) const;
  int64_t At(const DimVector& place) const;  // the device there
  bool operator==(const Cut&) const = default;
};

// The cut that a sharding of one array states. Errors: Unimplemented for kinds that no partitioner
// here knows; InvalidArgument where devices or dimensions do not fit.
absl::StatusOr<Cut> CutOf(const Sharding& sharding, const Shape& shape, int64_t devices);

// The cut of the value itself.
Cut Summed(Cut cut);
// Copies along these dimensions instead of tiles.
Cut MadeWhole(const Cut& cut, absl::Span<const int64_t> dims);
Cut MadeWholeExcept(const Cut& cut, absl::Span<const int64_t> dims);
// Without dimensions that are not cut.
Cut WithoutDims(const Cut& cut, absl::Span<const int64_t> dims);
// Dimension d of the result is dimension from[d].
Cut Transposed(const Cut& cut, absl::Span<const int64_t> from);
// The devices along these dimensions in the opposite order.
Cut Reversed(const Cut& cut, absl::Span<const int64_t> dims);
// The same devices under other numbers of tiles, in the row-major order of both.
Cut Retiled(const Cut& cut, DimVector tiles, bool has_copies);
// Of a reshape's result, by its operand's; nothing where tiles do not stay together.
std::optional<Cut> Reshaped(const Shape& from, const Shape& to, const Cut& cut);

// Whether they differ, but only in which device has which tile.
bool HaveSameTiles(const Cut& a, const Cut& b);
// Whether all of a tuple's leaves are on the same single device.
bool AllOnOneDevice(absl::Span<const Cut> cuts);
// The only dimension that is cut.
std::optional<int64_t> OnlyCutDim(const Cut& cut);
bool IsEven(const Cut& cut, const Shape& shape);
Shape ShardOf(const Shape& whole, const Cut& cut);

// Devices that differ in their places along `dims` only, in the order of those places.
DeviceGroups GroupsAlong(const Cut& cut, absl::Span<const int64_t> dims);

// Devices grouped by their places along `dims`, each of which is first cut into `sizes` groups
// (empty: as many as there are tiles), and how the array of one group lies on its members, which
// are numbered from 0.
struct Grouped {
  DeviceGroups groups;
  DimVector sizes;  // groups along each of `dims`
  Cut cut;
};
Grouped GroupBy(const Cut& cut, absl::Span<const int64_t> dims,
                absl::Span<const int64_t> tiles_left = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
