// Operations that only compilers make, and dumps show: asynchronous pairs, copies, fusions.
//
// A start op gives a tuple in flight, which only its done op takes. Errors are InvalidArgument with
// the label of the rule (docs/operations.md), kept in the builder. Source: XLA Operation Semantics.
#pragma once

#include <string>

#include "builder/collectives.h"
#include "builder/op_types.h"
#include "builder/xla_computation.h"
#include "builder/xla_op.h"
#include "types/shape.h"

namespace hlokit {

// The operand, in the layout of `layout` where given.
XlaOp Copy(XlaOp operand, const Layout* layout = nullptr, Where where = Where::current());
XlaOp CopyStart(XlaOp operand, Where where = Where::current());
XlaOp CopyDone(XlaOp in_flight, Where where = Where::current());
// The operand's memory as an array of another shape of the same size.
XlaOp Bitcast(const Shape& shape, XlaOp operand, Where where = Where::current());
// Marks where one sharding's domain ends and the other's begins.
XlaOp MakeDomain(XlaOp operand, const Sharding& entry, const Sharding& exit,
                 Where where = Where::current());
// computation(operands) as one kernel.
XlaOp Fusion(XlaBuilder* builder, FusionKind kind, const XlaComputation& computation,
             OpSpan operands, Where where = Where::current());
// computation(operands) in the background, on the thread of that name (empty: main).
XlaOp AsyncStart(XlaBuilder* builder, const XlaComputation& computation, OpSpan operands,
                 const std::string& thread = "", Where where = Where::current());
XlaOp AsyncUpdate(XlaOp in_flight, Where where = Where::current());
XlaOp AsyncDone(XlaOp in_flight, Where where = Where::current());
XlaOp AllGatherStart(XlaOp operand, int64_t dimension, int64_t shard_count,
                     CollectiveOptions options = {}, Where where = Where::current());
XlaOp AllGatherDone(XlaOp in_flight, Where where = Where::current());
XlaOp AllReduceStart(XlaOp operand, const XlaComputation& computation,
                     CollectiveOptions options = {}, Where where = Where::current());
XlaOp AllReduceDone(XlaOp in_flight, Where where = Where::current());
XlaOp CollectivePermuteStart(XlaOp operand, const IntPairs& source_target_pairs,
                             std::optional<ChannelHandle> channel = std::nullopt,
                             Where where = Where::current());
XlaOp CollectivePermuteDone(XlaOp in_flight, Where where = Where::current());

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
