// Cuts of arrays over devices: how they meet, and how they go through instructions.
#pragma once

#include <optional>
#include <vector>

#include "ir/module.h"
#include "ops/collective/shards.h"

namespace hlokit {

// Which of the parts along dimension d the device holds.
int64_t PartAlong(const Tiling& tiling, int64_t device, int64_t d);
bool SameTiling(const Tiling& a, const Tiling& b);
// Whether every dimension divides evenly.
bool IsEven(const Tiling& tiling, const Shape& shape);
// The cut along the dimensions `kept` only.
Tiling Restricted(const Tiling& tiling, const std::vector<bool>& kept);
// The cut of an array of `rank` dimensions whose dimension to[d] lies where d lies here; -1:
// nowhere.
Tiling Moved(const Tiling& tiling, absl::Span<const int64_t> to, int64_t rank);
// A cut along the dimensions that either cuts; nothing where they cut one differently, or where the
// devices would not share evenly.
std::optional<Tiling> Merged(const Tiling& a, const Tiling& b);
// What an instruction's own sharding says of its array; nothing where it has none that cuts.
std::optional<Tiling> OwnTiling(const Instruction& i, int64_t devices);

// For each dimension of operand k the dimension of the result that it goes along, so that a part of
// the one needs only that part of the other; -1: it must be whole. Empty where the operand must be
// whole, or where nothing is known of the instruction.
DimVector DimensionMap(const Instruction& i, int64_t k);
// Whether the instruction can be computed on parts of its result cut along dimension d.
bool CanCut(const Instruction& i, int64_t d);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
