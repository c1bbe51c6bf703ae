// Shardings: how an array (or each leaf of a tuple) is spread over devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/attribute_types.h"
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
  std::vector<OpMetadata> metadata;         // where the sharding came from
  std::vector<Sharding> elements;           // kTuple
  // kText: a sharding over named axes as XLA writes it, without braces and metadata:
  // mesh['x'=2], [{'x'}, {}]
  std::string text;
  bool operator==(const Sharding&) const = default;
};

// What a domain instruction separates: the shardings on its two sides.
struct Domain {
  Sharding entry, exit;
  bool operator==(const Domain&) const = default;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
