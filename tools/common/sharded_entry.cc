// The entry's tilings before partitioning: whole parameters are cut into the shards of each device,
// and whole results too, so that a reference platform that runs the whole program can be compared
// with one that runs the partitioned one.
#include "tools/common/sharded_entry.h"

#include <utility>

#include "support/status.h"

namespace hlokit {
namespace {

// The arrays of `whole` cut for one device; `next` walks over the tilings.
Literal CutAll(const Literal& whole, const std::vector<Tiling>& tilings, size_t& next,
               int64_t device) {
  if (whole.shape().IsToken()) return Literal::Token();
  if (!whole.shape().IsTuple()) return ShardOf(whole, tilings[next++], device);
  std::vector<Literal> parts;
  for (const Literal& element : whole.elements())
    parts.push_back(CutAll(element, tilings, next, device));
  return Literal::Tuple(std::move(parts));
}

Literal BlankAll(const Literal& shard, const Shape& whole, const std::vector<Tiling>& tilings,
                 size_t& next, int64_t device) {
  if (whole.IsToken()) return Literal::Token();
  if (!whole.IsTuple()) {
    const Tiling& tiling = tilings[next++];
    if (shard.shape().dims != ShardShape(whole, tiling).dims) return shard;
    return WithoutPadding(shard, whole, tiling, device);
  }
  std::vector<Literal> parts;
  for (size_t k = 0; k < whole.elements.size(); ++k)
    parts.push_back(BlankAll(shard.elements()[k], whole.elements[k], tilings, next, device));
  return Literal::Tuple(std::move(parts));
}

}  // namespace

absl::StatusOr<ShardedEntry> ShardedEntry::Of(const Module& module, int64_t devices) {
  ShardedEntry entry;
  for (const Instruction* parameter : module.entry()->parameters()) {
    auto tilings = ParameterTilings(*parameter, devices);
    if (!tilings.ok()) return WithPlace(tilings.status(), parameter->place());
    for (Tiling& tiling : *tilings) entry.parameters.push_back(std::move(tiling));
  }
  auto results = ResultTilings(*module.entry(), devices);
  if (!results.ok()) return WithPlace(results.status(), module.entry()->root()->place());
  entry.results = *std::move(results);
  return entry;
}

std::vector<Literal> ShardedEntry::CutParameters(absl::Span<const Literal* const> wholes,
                                                 int64_t device) const {
  std::vector<Literal> shards;
  size_t next = 0;
  for (const Literal* whole : wholes) shards.push_back(CutAll(*whole, parameters, next, device));
  return shards;
}

std::vector<Literal> ShardedEntry::CutResults(const std::vector<Literal>& wholes) const {
  std::vector<Literal> shards;
  for (size_t device = 0; device < wholes.size(); ++device) {
    size_t next = 0;
    shards.push_back(CutAll(wholes[device], results, next, static_cast<int64_t>(device)));
  }
  return shards;
}

std::vector<Literal> ShardedEntry::WithoutPadding(std::vector<Literal> shards,
                                                  const Shape& whole) const {
  for (size_t device = 0; device < shards.size(); ++device) {
    size_t next = 0;
    shards[device] = BlankAll(shards[device], whole, results, next, static_cast<int64_t>(device));
  }
  return shards;
}

bool RunsSharded(const Module& module, int64_t devices_asked, bool given_by_device) {
  if (module.entry() == nullptr) return false;
  if (HasManualRegions(module)) return true;
  return module.header().num_partitions == 1 && (devices_asked > 1 || given_by_device) &&
         DevicesNamed(module) > 1;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
