// Arrays moved from one sharding to another by collectives.
#pragma once

#include "passes/rewrite/hlo_writer.h"
#include "passes/spmd/tilings.h"

namespace hlokit {

// A device's part of an array: `value` has the shard shape of `whole` under `tiling`.
struct Part {
  Instruction* value = nullptr;
  Shape whole;
  Tiling tiling;
  bool manual = false;  // no part of an array: what each device holds by itself
  // Of a region that is manual on some axes only: devices of one group share the array. Null: all
  // do.
  const std::vector<int64_t>* groups = nullptr;
};

// Writes collectives over the partitions of a module.
class Resharder {
 public:
  // `devices`: the partitions of each of `replicas`.
  Resharder(HloWriter& w, int64_t replicas, int64_t devices, int64_t& next_channel)
      : w_(w), replicas_(replicas), devices_(devices), next_channel_(next_channel) {}

  // Collectives stay within these groups of devices from now on; null: all are one.
  void set_groups(const std::vector<int64_t>* groups) { groups_ = groups; }

  // The part under another tiling: gathers what is cut otherwise, then cuts.
  Part To(Part part, const Tiling& tiling);
  Part Whole(const Part& part) { return To(part, WholeOn(part.whole, devices_)); }
  // Combines `value` over the devices that hold equal parts under `result` and different ones along
  // the dimensions of `operand` for which `reduced` holds.
  Instruction* AllReduce(Instruction* value, const Tiling& operand,
                         const std::vector<bool>& reduced, Computation* reducer);

 private:
  // Devices that differ in their parts along `dims` only, in the order of those parts; in each
  // replica those of its own.
  ReplicaGroups GroupsAlong(const Tiling& tiling, const std::vector<bool>& dims) const;
  Part GatherAlong(Part part, int64_t d);
  Part CutAlong(Part part, const Tiling& tiling, int64_t d);
  // The entry of `by_device` for the running device, an s32 scalar.
  Instruction* Lookup(absl::Span<const int64_t> by_device);

  HloWriter& w_;
  int64_t replicas_, devices_;
  int64_t& next_channel_;
  const std::vector<int64_t>* groups_ = nullptr;
};

// conditional(partition-id == device, (data, token)): the outfeed on that device, on others the
// token of nothing.
Instruction* SentBy(HloWriter& w, const Instruction& outfeed, int64_t device, Instruction* data,
                    Instruction* token);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
