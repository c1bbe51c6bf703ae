// Writes the program of one partition, instruction by instruction.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "passes/spmd/region_cuts.h"
#include "passes/spmd/sharder.h"

namespace hlokit {

// What all computations of a module share while they are partitioned.
struct SpmdContext {
  int64_t partitions = 1;
  int64_t next_channel = 1;
  int64_t depth = 0;  // of computations that are being written
  struct Made {
    const Computation* from;
    std::vector<std::vector<Cut>> parameters;
    std::vector<Cut> root;
    DeviceGroups region;
    Computation* to;
  };
  std::vector<Made> made = {};  // what callers may share
};

// The shape of what a partition holds of a value whose leaves are cut so.
Shape PartitionedShape(const Shape& whole, absl::Span<const Cut> cuts);

class SpmdVisitor {
 public:
  // `region`: of the caller, where that is manual on some axes only; the cuts of parameters and
  // root are then those of its groups' members.
  SpmdVisitor(const Computation& from, Computation& to, SpmdContext& context,
              DeviceGroups region = {});

  // Writes the computation; parameters are cut as given, the root under `root` (empty: as its own
  // sharding says). Errors: Unimplemented for what it does not know.
  absl::Status Run(const std::vector<std::vector<Cut>>& parameters, std::vector<Cut> root);

  // What an instruction's sharding says of its leaves, of the members of `region` where that is not
  // empty; replicated where it has none.
  absl::StatusOr<std::vector<Cut>> CutsOf(const Instruction& i,
                                          const DeviceGroups& region = {}) const;

 private:
  using Handler = absl::Status (SpmdVisitor::*)(const Instruction&);

  absl::Status Visit(const Instruction& i);
  Handler HandlerOf(const Instruction& i) const;
  static Handler HandlerOfTarget(const Instruction& i);  // null: of no target that is known here
  const Shard& Of(const Instruction* operand) const {
    const auto found = lifted_.find(operand->id());
    return found == lifted_.end() ? done_[operand->id()] : found->second;
  }
  const Cut& CutOfResult() const { return cuts_[0]; }
  // The value of `i`, cut as its sharding says.
  void Set(const Instruction& i, Instruction* value) {
    done_[i.id()] = {value, i.shape(), cuts_, scope_};
  }
  void Set(const Instruction& i, const Shard& shard) { done_[i.id()] = sharder_.To(shard, cuts_); }
  Shard Array(Instruction* value, const Shape& whole, const Cut& cut) {
    return sharder_.Array(value, whole, cut, scope_);
  }
  Instruction* Clone(const Instruction& i, const Shape& shape,
                     absl::Span<Instruction* const> operands) {
    return r_.Clone(&i, shape, operands);
  }
  Shape LocalShape(const Instruction& i) const { return PartitionedShape(i.shape(), cuts_); }
  Instruction* WholeOf(const Instruction* operand) { return sharder_.Whole(Of(operand)); }
  bool IsManual(const Instruction& i) const;
  DeviceScope* ScopeOf(const DeviceGroups& region) {
    return region.empty() ? writer_.all() : writer_.Within(writer_.all(), region);
  }
  // The region of the scope; empty: all devices.
  DeviceGroups RegionOf(const DeviceScope* scope) const {
    return scope->parent == nullptr ? DeviceGroups() : scope->groups;
  }
  // Sets the scope and the cuts of the instruction, and brings its operands there.
  absl::Status Enter(const Instruction& i);
  DeviceScope* ScopeOfOwn(const Instruction& i);
  Shard InScope(const Shard& shard, DeviceScope* scope);
  bool IsAlikeInRegion(const Instruction& collective) const;
  bool CallsTiled(const Instruction& i) const;

  // Operands whole, or on the device that the result is on.
  absl::Status Default(const Instruction& i);
  absl::Status Verbatim(const Instruction& i);
  absl::Status Batched(const Instruction& i);  // a factorization, a transform
  absl::Status OnOneDevice(const Instruction& i);
  absl::Status Elementwise(const Instruction& i);
  absl::Status ElementwiseCall(const Instruction& i);
  absl::Status BitcastConvert(const Instruction& i);
  absl::Status Barrier(const Instruction& i);
  absl::Status Tuple(const Instruction& i);
  absl::Status Element(const Instruction& i);
  absl::Status Constant(const Instruction& i);
  absl::Status Iota(const Instruction& i);
  absl::Status Broadcast(const Instruction& i);
  absl::Status Transpose(const Instruction& i);
  absl::Status Reshape(const Instruction& i);
  absl::Status ReshapeByHalo(const Instruction& i);
  absl::Status Slice(const Instruction& i);
  absl::Status Pad(const Instruction& i);
  Instruction* Padded(const Instruction& i, const Shard& x, const PaddingConfig& padding,
                      Instruction* value);
  Instruction* SliceOfPad(const Instruction& i);
  bool IsCutAlike(const Instruction& x) const;
  absl::Status RotateRight(const Instruction& i);
  absl::Status RotateSeveral(const Instruction& i);
  absl::Status SliceSeveral(const Instruction& i);
  Instruction* RotateShards(const Shard& x, int64_t d, int64_t amount, int64_t shards);
  Instruction* Rotated(const Shard& x, int64_t d, int64_t amount);
  Instruction* FromShard(const Shard& x, int64_t d, int64_t distance, int64_t shards,
                         Instruction* rows);
  std::optional<int64_t> RotationOf(const Instruction& i) const;
  absl::Status Concatenate(const Instruction& i);
  absl::Status DynamicSlice(const Instruction& i);
  absl::Status DynamicUpdateSlice(const Instruction& i);
  Instruction* PaddedInPlace(const Instruction& i, const Shard& x, const PaddingConfig& padding,
                             Instruction* value);
  Instruction* UpdateInPlace(const Instruction& i, const DimVector& starts, bool in_one);
  Instruction* SliceInPlace(const Instruction& i, const DimVector& starts);
  Instruction* SelectUpdate(const Instruction& i, bool in_one);
  absl::Status UpdateOneShard(const Instruction& i, absl::Span<const int64_t> cut_slices,
                              absl::Span<const int64_t> slices, bool has_cut_others);
  absl::Status Reverse(const Instruction& i);
  absl::Status Reduce(const Instruction& i);
  Instruction* ReduceTogether(const Instruction& i, const Shard& first, Instruction* local);
  absl::Status ReduceWindow(const Instruction& i);
  absl::Status SelectAndScatter(const Instruction& i);
  absl::Status Sort(const Instruction& i);
  std::optional<int64_t> FirstRowsRead(const Instruction& i, int64_t d) const;
  absl::Status SortFirstRows(const Instruction& i, int64_t d, int64_t rows);
  absl::Status Dot(const Instruction& i);
  absl::Status RaggedDot(const Instruction& i);
  absl::Status Convolution(const Instruction& i);
  absl::Status GroupedConvolution(const Instruction& i);
  absl::Status ConvolutionByProduct(const Instruction& i);
  absl::Status Indexed(const Instruction& i);  // a gather or a scatter
  absl::Status While(const Instruction& i);
  absl::Status Conditional(const Instruction& i);
  absl::Status Call(const Instruction& i);
  absl::Status Rng(const Instruction& i);
  absl::Status Infeed(const Instruction& i);
  using WriteBranch =
      std::function<Instruction*(int64_t group, Instruction* parameter, HloWriter& w)>;
  Instruction* ByGroups(const std::vector<int64_t>& group_of, Instruction* operand,
                        const Shape& result, const WriteBranch& write);
  absl::Status Outfeed(const Instruction& i);
  absl::Status FullToShard(const Instruction& i);
  absl::Status ShardToFull(const Instruction& i);
  absl::Status EnterRegion(const Instruction& i);
  absl::Status LeaveRegion(const Instruction& i);
  absl::Status Recut(const Instruction& i);
  absl::Status TopK(const Instruction& i);
  absl::Status TopKOfParts(const Instruction& i, const Shard& operand, int64_t k);
  absl::Status Scan(const Instruction& i);

  absl::StatusOr<Computation*> Partition(const Computation& callee,
                                         const std::vector<std::vector<Cut>>& parameters,
                                         std::vector<Cut> root);
  void CleanUp();

  const Computation& from_;
  Computation& to_;
  SpmdContext& context_;
  Rewriter r_;
  HloWriter w_;
  ShardWriter writer_;
  Sharder sharder_;
  DeviceScope* outer_;               // of the computation
  std::vector<Shard> done_;          // by instruction id
  std::map<int64_t, Shard> lifted_;  // operands of the instruction at hand, in its scope
  // Of the instruction at hand.
  std::vector<Cut> cuts_;
  std::vector<Cut> unreduced_;  // what its result is brought to from `cuts_`, where it is unreduced
  DeviceScope* scope_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
