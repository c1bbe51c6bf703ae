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

Literal JoinAll(const std::vector<const Literal*>& shards, const Shape& whole,
                const std::vector<Tiling>& tilings, size_t& next) {
  if (whole.IsToken()) return Literal::Token();
  if (!whole.IsTuple()) return JoinShards(whole, tilings[next++], shards);
  std::vector<Literal> parts;
  for (size_t k = 0; k < whole.elements.size(); ++k) {
    std::vector<const Literal*> elements;
    for (const Literal* shard : shards) elements.push_back(&shard->elements()[k]);
    parts.push_back(JoinAll(elements, whole.elements[k], tilings, next));
  }
  return Literal::Tuple(std::move(parts));
}

// The k-th of these devices; of none: of all.
int64_t NumberOf(absl::Span<const int64_t> devices, size_t k) {
  return devices.empty() ? static_cast<int64_t>(k) : devices[k];
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

std::vector<Literal> ShardedEntry::CutResults(const std::vector<Literal>& wholes,
                                              absl::Span<const int64_t> devices) const {
  std::vector<Literal> shards;
  for (size_t k = 0; k < wholes.size(); ++k) {
    size_t next = 0;
    shards.push_back(CutAll(wholes[k], results, next, NumberOf(devices, k)));
  }
  return shards;
}

std::vector<Literal> ShardedEntry::WithoutPadding(std::vector<Literal> shards, const Shape& whole,
                                                  absl::Span<const int64_t> devices) const {
  for (size_t k = 0; k < shards.size(); ++k) {
    size_t next = 0;
    shards[k] = BlankAll(shards[k], whole, results, next, NumberOf(devices, k));
  }
  return shards;
}

Literal ShardedEntry::JoinResults(const std::vector<Literal>& shards, const Shape& whole) const {
  std::vector<const Literal*> pointers;
  for (const Literal& shard : shards) pointers.push_back(&shard);
  size_t next = 0;
  return JoinAll(pointers, whole, results, next);
}

bool RunsSharded(const Module& module, int64_t devices_asked, bool given_by_device) {
  if (module.entry() == nullptr) return false;
  if (HasManualRegions(module)) return true;
  return module.header().num_partitions == 1 && (devices_asked > 1 || given_by_device) &&
         DevicesNamed(module) > 1;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
