// How an array is cut over the devices of a module that has not been partitioned, and its shards.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/instruction.h"
#include "ops/collective/tiling.h"
#include "types/literal.h"

namespace hlokit {

// The devices of a tiled sharding, row-major over its dimensions.
std::vector<int64_t> DevicesOf(const Sharding& sharding);

// Replicated, maximal, manual and unknown shardings give every device the whole. Errors:
// InvalidArgument where rank or devices do not fit.
absl::StatusOr<Tiling> TilingOf(const Sharding& sharding, const Shape& shape, int64_t devices);

// The cuts that a marker of manual regions, or a parameter, states of `shapes`, one each: its
// frontend attribute `key` (Shardy's text), else its sharding. Where `manual_axes` of the
// instruction are named, other axes do not cut.
absl::StatusOr<std::vector<Tiling>> StatedTilings(const Instruction& instruction,
                                                  absl::string_view key,
                                                  absl::Span<const Shape* const> shapes,
                                                  int64_t devices);

// Regions that are manual on some axes of the mesh only: devices with equal numbers share the
// arrays inside, which the other axes may cut. By device; empty where `sharding` has no manual
// subgroup.
std::vector<int64_t> ManualGroupsOf(const Sharding& sharding, int64_t devices);
// The axes that a marker of such a region names.
absl::StatusOr<std::vector<std::string>> StatedManualAxes(const Instruction& marker);
// The numbers where these axes (none: all) are manual, of the mesh that its attribute `key` names.
absl::StatusOr<std::vector<int64_t>> ManualGroupsOf(const Instruction& marker,
                                                    absl::string_view key,
                                                    const std::vector<std::string>& axes,
                                                    int64_t devices);
// The cut into larger tiles that `finer` cuts into those of `tiling`.
Tiling CoarserBy(const Tiling& tiling, const Tiling& finer);

Shape ShardShape(const Shape& whole, const Tiling& tiling);
// Where a device's shard starts in an array of dimensions `whole`, and how much of it lies inside;
// the rest of ShardShape is padding.
void ShardBox(const DimVector& whole, const Tiling& tiling, int64_t device, DimVector& starts,
              DimVector& sizes);
// The part of `whole` that a device holds.
Literal ShardOf(const Literal& whole, const Tiling& tiling, int64_t device);
// The same with zeros where an uneven cut leaves rows that are not of `whole`.
Literal WithoutPadding(const Literal& shard, const Shape& whole, const Tiling& tiling,
                       int64_t device);
// The array again, as `device` has it; shards[d] is device d's, of ShardShape. Of copies its own
// counts, else the first device's.
Literal JoinShards(const Shape& whole, const Tiling& tiling,
                   absl::Span<const Literal* const> shards, int64_t device = 0);

// Whether the module has regions that run on shards between markers (SPMDFullToShardShape,
// xla.sdy.GlobalToLocalShape and their inverses), so that it has a meaning on all devices only.
bool HasManualRegions(const Module& module);
// Whether the sharding of this instruction tells a marker of GSPMD's form (SPMDFullToShardShape,
// SPMDShardToFullShape) how it cuts its array: it is such a marker, or the operand of one.
bool SaysHowToCut(const Instruction& instruction);
// How many devices the module's meshes, or the shardings of its entry, speak of; 1 where of none.
int64_t DevicesNamed(const Module& module);
// The cut of each array of a parameter, and of each array of the entry's result.
absl::StatusOr<std::vector<Tiling>> ParameterTilings(const Instruction& parameter, int64_t devices);
absl::StatusOr<std::vector<Tiling>> ResultTilings(const Computation& entry, int64_t devices);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
