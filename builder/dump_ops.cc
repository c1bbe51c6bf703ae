// Operations of dumps.
#include "builder/dump_ops.h"

#include "builder/emit_internal.h"

namespace hlokit {

XlaOp Copy(XlaOp operand, const Layout* layout, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    Shape result = s[0];
    if (layout != nullptr && result.IsArray()) {
      if (static_cast<int>(layout->minor_to_major.size()) != result.rank())
        return InvalidArgument("copy: the layout does not fit ", Text(result));
      result.layout = *layout;
    }
    return Emit(where, Opcode::kCopy, {operand}, NoAttrs(), {result});
  });
}

XlaOp CopyStart(XlaOp operand, Where where) {
  return Emit(where, Opcode::kCopyStart, {operand}, CopyStartAttrs());
}
XlaOp CopyDone(XlaOp in_flight, Where where) { return Emit(where, Opcode::kCopyDone, {in_flight}); }
XlaOp Bitcast(const Shape& shape, XlaOp operand, Where where) {
  return Emit(where, Opcode::kBitcast, {operand}, NoAttrs(), {shape});
}
XlaOp MakeDomain(XlaOp operand, const Sharding& entry, const Sharding& exit, Where where) {
  return Emit(where, Opcode::kDomain, {operand}, DomainAttrs{{entry, exit}});
}

XlaOp Fusion(XlaBuilder* builder, FusionKind kind, const XlaComputation& computation,
             OpSpan operands, Where where) {
  return EmitIn(builder, where, Opcode::kFusion, operands, FusionAttrs{kind, {}},
                {std::nullopt, {&computation}});
}

XlaOp AsyncStart(XlaBuilder* builder, const XlaComputation& computation, OpSpan operands,
                 const std::string& thread, Where where) {
  return EmitIn(builder, where, Opcode::kAsyncStart, operands, AsyncAttrs{thread, {}},
                {std::nullopt, {&computation}});
}
XlaOp AsyncUpdate(XlaOp in_flight, Where where) {
  return Emit(where, Opcode::kAsyncUpdate, {in_flight}, AsyncAttrs());
}
XlaOp AsyncDone(XlaOp in_flight, Where where) {
  return Emit(where, Opcode::kAsyncDone, {in_flight}, AsyncAttrs());
}

XlaOp AllGatherStart(XlaOp operand, int64_t dimension, int64_t shard_count,
                     CollectiveOptions options, Where where) {
  return WithShapes(where, {operand}, [&](const std::vector<Shape>& s) -> absl::StatusOr<XlaOp> {
    if (dimension < 0 || dimension >= s[0].rank() || shard_count <= 0)
      return LabeledError("all-gather-start-c2", "all-gather-start: dimension ", dimension, " of ",
                          Text(s[0]), " in ", shard_count, " shards");
    Shape gathered = s[0].WithoutLayout();
    if (__builtin_mul_overflow(gathered.dims[dimension], shard_count, &gathered.dims[dimension]))
      return InvalidArgument("all-gather-start: ", shard_count, " shards are too many");
    AllGatherAttrs attributes;
    attributes.replica_groups = options.replica_groups;
    if (options.channel) attributes.channel_id = options.channel->handle;
    attributes.use_global_device_ids = options.use_global_device_ids;
    attributes.dimensions = {dimension};
    return Emit(where, Opcode::kAllGatherStart, {operand}, std::move(attributes),
                {Shape::Tuple({s[0], gathered})});
  });
}
XlaOp AllGatherDone(XlaOp in_flight, Where where) {
  return Emit(where, Opcode::kAllGatherDone, {in_flight});
}

XlaOp AllReduceStart(XlaOp operand, const XlaComputation& computation, CollectiveOptions options,
                     Where where) {
  AllReduceAttrs attributes;
  attributes.replica_groups = options.replica_groups;
  if (options.channel) attributes.channel_id = options.channel->handle;
  attributes.use_global_device_ids = options.use_global_device_ids;
  return Emit(where, Opcode::kAllReduceStart, {operand}, std::move(attributes),
              {std::nullopt, {&computation}});
}
XlaOp AllReduceDone(XlaOp in_flight, Where where) {
  return Emit(where, Opcode::kAllReduceDone, {in_flight});
}

XlaOp CollectivePermuteStart(XlaOp operand, const IntPairs& source_target_pairs,
                             std::optional<ChannelHandle> channel, Where where) {
  CollectivePermuteAttrs attributes;
  if (channel) attributes.channel_id = channel->handle;
  attributes.source_target_pairs = source_target_pairs;
  return Emit(where, Opcode::kCollectivePermuteStart, {operand}, std::move(attributes));
}
XlaOp CollectivePermuteDone(XlaOp in_flight, Where where) {
  return Emit(where, Opcode::kCollectivePermuteDone, {in_flight});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
