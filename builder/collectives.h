// Operations in which several devices take part.
//
// replica_groups names the devices that meet, by number; empty: all of them. channel: where given,
// groups cross partitions too. Everyone named must take part, or the others wait for ever. Errors
// are InvalidArgument with the label of the rule (docs/operations.md), kept in the builder.
// Source: XLA Operation Semantics.
#pragma once

#include <optional>

#include "builder/op_types.h"
#include "builder/xla_computation.h"
#include "builder/xla_op.h"

namespace hlokit {

// What most collectives may say.
struct CollectiveOptions {
  ReplicaGroups replica_groups = {};                    // who talks to whom; empty: all to all
  std::optional<ChannelHandle> channel = std::nullopt;  // across partitions too
  // Ids are replica * partitions + partition; needs a channel.
  bool use_global_device_ids = false;
  // The layout of what is exchanged must be this shape's: constrain_layout.
  std::optional<Shape> shape_with_layout = std::nullopt;
};

// {{0,1},{2,3}}.
ReplicaGroups MakeReplicaGroups(const std::vector<std::vector<int64_t>>& groups);

// The group's operands one after another along a dimension, which becomes shard_count times as
// long; shard_count is the size of the groups.
XlaOp AllGather(XlaOp operand, int64_t dimension, int64_t shard_count,
                CollectiveOptions options = {}, Where where = Where::current());
// Several arrays at once; a tuple.
XlaOp AllGatherTuple(OpSpan operands, int64_t dimension, int64_t shard_count,
                     CollectiveOptions options = {}, Where where = Where::current());
// The group's operands combined element by element by a computation of two scalars.
XlaOp AllReduce(XlaOp operand, const XlaComputation& computation, CollectiveOptions options = {},
                Where where = Where::current());
XlaOp AllReduceTuple(OpSpan operands, const XlaComputation& computation,
                     CollectiveOptions options = {}, Where where = Where::current());
// AllReduce that adds.
XlaOp CrossReplicaSum(XlaOp operand, const ReplicaGroups& replica_groups = {},
                      Where where = Where::current());
// AllReduce, of which each member of the group keeps its part along a dimension.
XlaOp ReduceScatter(XlaOp operand, const XlaComputation& computation, int64_t dimension,
                    int64_t shard_count, CollectiveOptions options = {},
                    Where where = Where::current());
// Block i along split_dimension goes to member i; what comes is joined along concat_dimension.
XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension,
               int64_t split_count, CollectiveOptions options = {}, Where where = Where::current());
// Operand i goes to member i, and comes back as element i of a tuple.
XlaOp AllToAllTuple(OpSpan operands, CollectiveOptions options = {},
                    Where where = Where::current());
// Rows of `input` by offsets and sizes to each member, written into `output` at the offsets that
// the receivers name.
XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output,
                     XlaOp output_offsets, XlaOp recv_sizes, CollectiveOptions options = {},
                     Where where = Where::current());
// The first member's operand to all of its group.
XlaOp CollectiveBroadcast(XlaOp operand, CollectiveOptions options = {},
                          Where where = Where::current());
// From source to target for each pair; devices that are no target get zeros. Errors: a negative
// device, or one twice as source or as target [collective-permute-c10].
XlaOp CollectivePermute(XlaOp operand, const IntPairs& source_target_pairs,
                        std::optional<ChannelHandle> channel = std::nullopt,
                        Where where = Where::current());

// This device's numbers, u32[].
XlaOp ReplicaId(XlaBuilder* builder, Where where = Where::current());
XlaOp PartitionId(XlaBuilder* builder, Where where = Where::current());

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
