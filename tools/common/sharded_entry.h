// Modules that were dumped before partitioning: each device gets and gives shards of whole arrays.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "ops/collective/shards.h"

namespace hlokit {

// How the entry's arrays are cut. The program itself sees whole arrays on every device.
struct ShardedEntry {
  std::vector<Tiling> parameters;  // by array, depth first
  std::vector<Tiling> results;
  bool active() const { return !parameters.empty() || !results.empty(); }

  static absl::StatusOr<ShardedEntry> Of(const Module& module, int64_t devices);
  // A device's shards of whole arguments, one a parameter.
  std::vector<Literal> CutParameters(absl::Span<const Literal* const> wholes, int64_t device) const;
  // Each device's shards of whole results. `devices`: whose they are; empty: of all, in order.
  std::vector<Literal> CutResults(const std::vector<Literal>& wholes,
                                  absl::Span<const int64_t> devices = {}) const;
  // Shards of results of shape `whole`, one a device, with zeros for the padding of uneven cuts.
  std::vector<Literal> WithoutPadding(std::vector<Literal> shards, const Shape& whole,
                                      absl::Span<const int64_t> devices = {}) const;
  // The whole results of shape `whole` whose shards all devices have.
  Literal JoinResults(const std::vector<Literal>& shards, const Shape& whole) const;
};

// Whether the module stands before partitioning and is to run on several devices: it has manual
// regions, or names devices (`devices_asked` of them, or its arrays are given by device) while its
// header knows of one.
bool RunsSharded(const Module& module, int64_t devices_asked, bool given_by_device);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
