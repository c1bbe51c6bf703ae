// Collectives, and what XLA's builder writes around them.
//
//   AllGather(f32[8,4], dimension 0, 2 shards)      f32[16,4]
//   ReduceScatter(f32[8,4], add, dimension 0, 2)    f32[4,4]
// Result shapes are worked out here, since they depend on the number of shards, which the operands
// do not say: an all-gather multiplies its dimension by it, a reduce-scatter divides. A layout that
// the caller demands becomes constrain_layout.
#include "builder/collectives.h"

#include "builder/constants.h"
#include "builder/control.h"
#include "builder/emit_internal.h"
#include "builder/movement.h"
#include "builder/reductions.h"
#include "ops/collective/device_groups.h"

namespace hlokit {
namespace {

// The fields that an attribute struct shares with CollectiveOptions.
template <typename A>
void SetOptions(const CollectiveOptions& options, A& attributes) {
  attributes.replica_groups = options.replica_groups;
  if (options.channel) attributes.channel_id = options.channel->handle;
  if constexpr (requires { attributes.use_global_device_ids; })
    attributes.use_global_device_ids = options.use_global_device_ids;
  if constexpr (requires { attributes.constrain_layout; })
    attributes.constrain_layout = options.shape_with_layout.has_value();
}

// Each operand's shape with dimension d times (or over) `shards`; inference checks the rest.
absl::StatusOr<Shape> Sharded(const std::vector<Shape>& operands, int64_t d, int64_t shards,
                              bool gathers, bool tuple) {
  std::vector<Shape> results;
  for (const Shape& operand : operands) {
    if (shards <= 0) return InvalidArgument("shard count ", shards, " is not positive");
    Shape result = operand.WithoutLayout();
    if (d >= 0 && d < result.rank()) {
      int64_t& size = result.dims[d];
      if (!gathers && size % shards != 0)
        return InvalidArgument("dimension ", d, " of ", Text(operand), " does not split into ",
                               shards, " shards");
      if (gathers && __builtin_mul_overflow(size, shards, &size))
        return InvalidArgument("dimension ", d, " times ", shards, " is too large");
      if (!gathers) size /= shards;
    }
    results.push_back(std::move(result));
  }
  return tuple ? Shape::Tuple(std::move(results)) : results[0];
}

absl::StatusOr<std::vector<Shape>> ShapesOf(XlaBuilder& builder, OpSpan operands) {
  std::vector<Shape> shapes;
  for (const XlaOp& operand : operands) {
    ASSIGN_OR_RETURN(Shape shape, builder.GetShape(operand));
    shapes.push_back(std::move(shape));
  }
  if (shapes.empty()) return InvalidArgument("a collective without operands");
  return shapes;
}

absl::StatusOr<XlaOp> Gather(OpSpan operands, int64_t dimension, int64_t shard_count,
                             const CollectiveOptions& options, const Where& where) {
  XlaBuilder* builder = BuilderOf(operands);
  ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ShapesOf(*builder, operands));
  ASSIGN_OR_RETURN(Shape result,
                   Sharded(shapes, dimension, shard_count, true, operands.size() > 1));
  if (options.shape_with_layout && Compatible(result, *options.shape_with_layout))
    result = *options.shape_with_layout;
  AllGatherAttrs attributes;
  SetOptions(options, attributes);
  attributes.dimensions = {dimension};
  return EmitIn(builder, where, Opcode::kAllGather, operands, std::move(attributes), {result});
}

XlaOp Reported(OpSpan operands, const Where& where, absl::StatusOr<XlaOp> made) {
  return BuilderOf(operands)->ReportErrorOrReturn(std::move(made), where);
}

}  // namespace

ReplicaGroups MakeReplicaGroups(const std::vector<std::vector<int64_t>>& groups) {
  ReplicaGroups made;
  made.lists = groups;
  return made;
}

XlaOp AllGather(XlaOp operand, int64_t dimension, int64_t shard_count, CollectiveOptions options,
                Where where) {
  return AllGatherTuple({operand}, dimension, shard_count, std::move(options), where);
}

XlaOp AllGatherTuple(OpSpan operands, int64_t dimension, int64_t shard_count,
                     CollectiveOptions options, Where where) {
  if (BuilderOf(operands) == nullptr) return XlaOp();
  return Reported(operands, where, Gather(operands, dimension, shard_count, options, where));
}

XlaOp AllReduce(XlaOp operand, const XlaComputation& computation, CollectiveOptions options,
                Where where) {
  return AllReduceTuple({operand}, computation, std::move(options), where);
}

XlaOp AllReduceTuple(OpSpan operands, const XlaComputation& computation, CollectiveOptions options,
                     Where where) {
  AllReduceAttrs attributes;
  SetOptions(options, attributes);
  return EmitIn(BuilderOf(operands), where, Opcode::kAllReduce, operands, std::move(attributes),
                {options.shape_with_layout, {&computation}});
}

XlaOp CrossReplicaSum(XlaOp operand, const ReplicaGroups& replica_groups, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (!s[0].IsArray()) return LabeledError("all-reduce-c1", "all-reduce: ", Text(s[0]));
    CollectiveOptions options;
    options.replica_groups = replica_groups;
    return AllReduce(operand, ScalarComputation(Opcode::kAdd, s[0].type), options, where);
  });
}

XlaOp ReduceScatter(XlaOp operand, const XlaComputation& computation, int64_t dimension,
                    int64_t shard_count, CollectiveOptions options, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    ASSIGN_OR_RETURN(Shape result, Sharded(s, dimension, shard_count, false, false));
    ReduceScatterAttrs attributes;
    SetOptions(options, attributes);
    attributes.dimensions = {dimension};
    return Emit(where, Opcode::kReduceScatter, {operand}, std::move(attributes),
                {result, {&computation}});
  });
}

namespace {

// What split and concat dimensions that differ need after the exchange: the blocks, which lie along
// the split dimension, moved to the concat dimension.
XlaOp MoveBlocks(XlaOp exchanged, const Shape& shape, int64_t split, int64_t concat, int64_t count,
                 const Where& where) {
  DimVector blocks, order, sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d != split) {
      blocks.push_back(shape.dims[d]);
      continue;
    }
    blocks.push_back(count);
    blocks.push_back(shape.dims[d] / count);
  }
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d == concat) order.push_back(split);
    order.push_back(d >= split ? d + 1 : d);
    sizes.push_back(d == split ? shape.dims[d] / count : shape.dims[d]);
  }
  sizes[concat] *= count;
  return Reshape(Transpose(Reshape(exchanged, blocks, where), order, where), sizes, where);
}

}  // namespace

XlaOp AllToAll(XlaOp operand, int64_t split, int64_t concat, int64_t count,
               CollectiveOptions options, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    const int64_t rank = s[0].rank();
    if (split < 0 || split >= rank || concat < 0 || concat >= rank)
      return LabeledError("all-to-all-c2", "all-to-all: dimensions ", split, " and ", concat,
                          " of ", Text(s[0]));
    if (count <= 0 || s[0].dims[split] % count != 0)
      return LabeledError("all-to-all-c3", "all-to-all: dimension ", split, " of ", Text(s[0]),
                          " does not split into ", count, " blocks");
    AllToAllAttrs attributes;
    SetOptions(options, attributes);
    attributes.dimensions = DimVector{split};
    const XlaOp exchanged = Emit(where, Opcode::kAllToAll, {operand}, std::move(attributes),
                                 {options.shape_with_layout});
    return split == concat ? exchanged : MoveBlocks(exchanged, s[0], split, concat, count, where);
  });
}

XlaOp AllToAllTuple(OpSpan operands, CollectiveOptions options, Where where) {
  AllToAllAttrs attributes;
  SetOptions(options, attributes);
  return EmitIn(BuilderOf(operands), where, Opcode::kAllToAll, operands, std::move(attributes));
}

XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output,
                     XlaOp output_offsets, XlaOp recv_sizes, CollectiveOptions options,
                     Where where) {
  RaggedAllToAllAttrs attributes;
  SetOptions(options, attributes);
  return Emit(where, Opcode::kRaggedAllToAll,
              {input, output, input_offsets, send_sizes, output_offsets, recv_sizes},
              std::move(attributes));
}

XlaOp CollectiveBroadcast(XlaOp operand, CollectiveOptions options, Where where) {
  CollectiveBroadcastAttrs attributes;
  SetOptions(options, attributes);
  return Emit(where, Opcode::kCollectiveBroadcast, {operand}, std::move(attributes));
}

XlaOp CollectivePermute(XlaOp operand, const IntPairs& source_target_pairs,
                        std::optional<ChannelHandle> channel, Where where) {
  CollectivePermuteAttrs attributes;
  if (channel) attributes.channel_id = channel->handle;
  attributes.source_target_pairs = source_target_pairs;
  if (const std::vector<std::string> faults = PairFaults(attributes);
      !faults.empty() && operand.builder() != nullptr)
    return operand.builder()->ReportError(
        LabeledError("collective-permute-c10", "collective-permute: ", faults[0]), where);
  return Emit(where, Opcode::kCollectivePermute, {operand}, std::move(attributes));
}

XlaOp ReplicaId(XlaBuilder* builder, Where where) {
  return EmitIn(builder, where, Opcode::kReplicaId, {});
}
XlaOp PartitionId(XlaBuilder* builder, Where where) {
  return EmitIn(builder, where, Opcode::kPartitionId, {});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
