// Writes what partitioned programs are made of: collectives among groups of partitions, numbers
// that depend on the partition, and exchanges of neighbouring rows (halos).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "passes/rewrite/hlo_writer.h"
#include "passes/spmd/cuts.h"

namespace hlokit {

// A function of a partition's place along one dimension: (place * factor + offset) / divisor, or
// two of them combined.
class PlaceFunction {
 public:
  PlaceFunction() = default;
  PlaceFunction(int64_t factor, int64_t offset, int64_t divisor = 1);
  int64_t At(int64_t place) const;
  Instruction* Write(HloWriter& w, Instruction* place) const;  // s32
  bool IsConstant() const;
  // The greatest value for places from `first` to `limit` - 1.
  int64_t Most(int64_t first, int64_t limit) const;
  friend PlaceFunction operator-(const PlaceFunction& a, const PlaceFunction& b);
  friend PlaceFunction operator+(const PlaceFunction& a, const PlaceFunction& b);
  friend PlaceFunction operator*(const PlaceFunction& a, const PlaceFunction& b);
  bool operator==(const PlaceFunction& other) const;

 private:
  static PlaceFunction Combined(Opcode opcode, const PlaceFunction& a, const PlaceFunction& b);
  int64_t factor_ = 0, offset_ = 0, divisor_ = 1;
  std::optional<Opcode> opcode_;
  std::shared_ptr<const PlaceFunction> a_, b_;
};

// The partitions that see an array as their own: a list of groups, each numbered from 0.
struct DeviceScope {
  DeviceGroups groups;            // of the module's partitions
  DeviceScope* parent = nullptr;  // whose numbers `within` are
  DeviceGroups within;            // the groups in the parent's numbers
  Instruction* id = nullptr;  // the running partition's number in its group; made when asked for
  int64_t size() const { return static_cast<int64_t>(groups[0].size()); }
};

class ShardWriter {
 public:
  ShardWriter(Module& module, HloWriter& w, int64_t partitions, int64_t& next_channel);

  HloWriter& w() { return w_; }
  DeviceScope* all() { return &all_; }
  // The scope whose groups are `groups` of the members of each group of `scope`.
  DeviceScope* Within(DeviceScope* scope, const DeviceGroups& groups);
  int64_t partitions() const { return partitions_; }

  Instruction* PartitionId(DeviceScope* scope);  // u32
  // The running partition's entry of a table by its number.
  Instruction* Lookup(absl::Span<const int64_t> table, ElementType type, Instruction* place);
  // Where the shard begins along each dimension, s32; 0 for dimensions that are not cut, or not
  // among `dims` where any are named.
  std::vector<Instruction*> Offsets(const Shape& whole, const Cut& cut, DeviceScope* scope,
                                    absl::Span<const int64_t> dims = {});
  // The running partition's place along each dimension, s32.
  std::vector<Instruction*> Places(const Cut& cut, DeviceScope* scope);
  Instruction* S32(int64_t value) { return w_.Integer(ElementType::kS32, value); }
  Instruction* Zero(ElementType type) { return w_.Integer(type, 0); }
  Computation* Add(ElementType type);  // a reducer; `or` of pred

  // Groups of a scope as the module's collectives name them, in each replica.
  ReplicaGroups InModule(const DeviceGroups& groups, const DeviceScope& scope) const;
  // Groups in the scope's numbers.
  Instruction* AllReduce(Instruction* x, const DeviceGroups& groups, Computation* reducer,
                         DeviceScope* scope);
  // One after another along those of `dims` that are cut, the last first.
  Instruction* AllReduceAlong(Instruction* x, const Cut& cut, absl::Span<const int64_t> dims,
                              Computation* reducer, DeviceScope* scope);
  Instruction* AllGatherAlong(Instruction* x, const Cut& cut, absl::Span<const int64_t> dims,
                              DeviceScope* scope);
  Instruction* AllToAll(Instruction* x, const DeviceGroups& groups, int64_t dimension,
                        DeviceScope* scope);
  Instruction* Permute(Instruction* x, const IntPairs& pairs, DeviceScope* scope);

  // ---- halos along dimension `dim` of `x`, a shard under `cut`

  struct Halo {
    PlaceFunction left, right;  // rows that a partition takes from before its shard, and after
  };
  // The shard with the most rows that any partition takes; nothing where the halos reach too far.
  std::optional<Instruction*> ExchangeHalo(Instruction* x, const Halo& halo, int64_t dim,
                                           const Cut& cut, DeviceScope* scope);
  // The same with neighbours' rows selected piece by piece, where few partitions need many rows;
  // rows outside of `whole` are `pad`, or anything where that is null.
  Instruction* ExchangeHaloCompact(Instruction* x, const Shape& whole, const Halo& halo,
                                   Instruction* pad, int64_t dim, const Cut& cut,
                                   Instruction* place, DeviceScope* scope);

  struct Valid {
    int64_t left_padding, padded_size, shard_size;
    Instruction* offset;  // of the shard on the padded array
    bool mask = true;     // rows outside of the array become `pad`
  };
  // Each partition's `shard_size` rows of the padded array.
  std::optional<Instruction*> ExchangeValid(Instruction* x, const Shape& whole, const Halo& halo,
                                            const Valid& valid, int64_t dim, const Cut& cut,
                                            Instruction* pad, Instruction* place,
                                            DeviceScope* scope);

  // Dimensions of what this writer made that hold the same along them everywhere.
  std::vector<int64_t> BroadcastDims(const Instruction* x, int depth = 0) const;

 private:
  Instruction* Masked(Instruction* x, const Shape& whole, const Valid& valid, int64_t dim,
                      Instruction* pad);

  Module& module_;
  HloWriter& w_;
  int64_t replicas_, partitions_;
  int64_t& next_channel_;
  DeviceScope all_;
  std::vector<std::unique_ptr<DeviceScope>> scopes_;
  std::map<ElementType, Computation*> adders_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
