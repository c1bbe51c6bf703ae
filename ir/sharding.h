// Shardings: how an array (or each leaf of a tuple) is spread over devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/shape.h"

namespace hlokit {

// `sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}`, `{replicated}`, `{maximal device=0}`,
// `{{..}, {..}}`.
struct Sharding {
  enum class Kind : uint8_t {
    kReplicated,
    kMaximal,
    kTiled,
    kManual,
    kUnknown,
    kUnreduced,
    kTuple,
    kText
  };
  Kind kind = Kind::kReplicated;
  int64_t device = 0;   // kMaximal
  DimVector tile_dims;  // kTiled: tiles a dimension, then subgroup dimensions
  bool iota = false;    // devices given as <=[..]T(..)
  DimVector reshape_dims, transpose_perm;
  std::vector<int64_t> devices;  // kTiled and not iota: row-major over tile_dims
  bool last_tile_dim_replicate = false;
  std::vector<std::string> last_tile_dims;  // subgroup types: "manual", "replicated", ...
  std::string shard_group;                  // "shard_as 3", "shard_like 3", or empty
  std::string metadata;                     // text of metadata={...}, braces included, or empty
  std::vector<Sharding> elements;           // kTuple
  std::string text;  // kText: a form kept as text with its braces (named and mesh shardings)
  bool operator==(const Sharding&) const = default;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
