// Inference of collectives. Group sizes that depend on the module's device counts come from the
// stated shape here; the verifier holds them against the counts. Rules: c1 operands are arrays; c2
// the dimension; c3 the number of shards; c4 the reducer; c5 operands among each other.
#include "ops/infer/infer_internal.h"

namespace hlokit {
namespace {

// Operands as the result of an op that keeps their shapes.
Shape OperandShapes(const OpView& op, bool always_tuple = false) {
  std::vector<Shape> shapes;
  for (int64_t i = 0; i < op.operand_count(); ++i) shapes.push_back(op.operand(i).WithoutLayout());
  return always_tuple ? Shape::Tuple(std::move(shapes)) : OneOrTuple(std::move(shapes));
}

// Members of the first group; 0 where no groups are given.
int64_t GroupSize(const ReplicaGroups& groups) {
  if (groups.form == ReplicaGroups::Form::kIota)
    return groups.iota_dims.empty() ? 0 : groups.iota_dims.back();
  return groups.lists.empty() ? 0 : static_cast<int64_t>(groups.lists[0].size());
}

// The stated shape of result i of a possibly variadic op, or null. A start op states it as element
// 1 of a tuple.
const Shape* StatedResult(const OpView& op, const Shape* stated, int64_t i) {
  if (stated == nullptr) return nullptr;
  if (op.operand_count() == 1) return stated;
  const bool has = stated->IsTuple() && i < static_cast<int64_t>(stated->elements.size());
  return has ? &stated->elements[i] : nullptr;
}

// Shards along dimension d: the ratio of `larger` to `smaller`, one of which is stated, else the
// group's size.
absl::StatusOr<int64_t> ShardCount(const OpView& op, const ReplicaGroups& groups,
                                   const Shape& operand, const Shape* stated, int d, bool gathers) {
  if (stated != nullptr && stated->IsArray() && stated->rank() == operand.rank()) {
    const int64_t larger = gathers ? stated->dims[d] : operand.dims[d];
    const int64_t smaller = gathers ? operand.dims[d] : stated->dims[d];
    if (larger > 0 && smaller > 0) {
      if (larger % smaller == 0) return larger / smaller;
      return Fail(op, 3, "dimension ", d, " of ", Text(operand), " and of ", Text(*stated),
                  " have no whole ratio");
    }
  }
  const int64_t size = GroupSize(groups);
  return size > 0 ? size : 1;
}

// All-gather and reduce-scatter: each operand with dimension d multiplied or divided by the number
// of shards.
absl::StatusOr<Shape> ShardedShapes(const OpView& op, const ReplicaGroups& groups,
                                    const DimVector& dimensions, const Shape* stated,
                                    bool gathers) {
  RETURN_IF_ERROR(ExpectArrays(op));
  std::vector<Shape> results;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const Shape& operand = op.operand(i);
    ASSIGN_OR_RETURN(const int d, ExpectOneDimension(op, dimensions, operand.rank(), 2));
    ASSIGN_OR_RETURN(const int64_t shards,
                     ShardCount(op, groups, operand, StatedResult(op, stated, i), d, gathers));
    Shape result = operand.WithoutLayout();
    int64_t& size = result.dims[d];
    if (size == kUnbounded) {
    } else if (!gathers && size % shards != 0) {
      return Fail(op, 3, "dimension ", d, " of ", Text(operand), " does not split into ", shards,
                  " shards");
    } else if (!gathers) {
      size /= shards;
    } else if (__builtin_mul_overflow(size, shards, &size)) {
      return Fail(op, 3, "dimension ", d, " of ", Text(operand), " times ", shards,
                  " is no 64-bit number");
    }
    results.push_back(std::move(result));
  }
  return OneOrTuple(std::move(results));
}

absl::StatusOr<Shape> GatherShapes(const OpView& op, const Shape* stated) {
  const auto& attr = op.attr<AllGatherAttrs>();
  return ShardedShapes(op, attr.replica_groups, attr.dimensions, stated, true);
}

// c4: to_apply, where given, combines two scalars of the first operand's type into one.
absl::Status CheckReducer(const OpView& op) {
  if (op.called().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(Signature reducer, SignatureOf(op, 0));
  const ElementType type = op.operand(0).type;
  return ExpectReducer(op, reducer, {type}, {type}, 4).status();
}

// Element i of a start op's stated result, or null.
const Shape* StatedElement(const OpView& op, size_t i) {
  const Shape* declared = op.declared();
  return declared != nullptr && declared->IsTuple() && i < declared->elements.size()
             ? &declared->elements[i]
             : nullptr;
}

// A start op's result: operands, results, then the context values that are stated.
Shape StartShape(const OpView& op, Shape operands, Shape results) {
  std::vector<Shape> elements = {std::move(operands), std::move(results)};
  for (size_t i = 2; StatedElement(op, i) != nullptr; ++i)
    elements.push_back(StatedElement(op, i)->WithoutLayout());
  return Shape::Tuple(std::move(elements));
}

// A done op's result: element 1 of the start's. c1: the operand is such a tuple.
absl::StatusOr<Shape> DoneShape(const OpView& op) {
  const Shape& start = op.operand(0);
  if (!start.IsTuple() || start.elements.size() < 2)
    return Fail(op, 1, "expects what a start op returns, found ", Text(start));
  return start.elements[1].WithoutLayout();
}

}  // namespace

absl::StatusOr<Shape> InferAllGather(const OpView& op) { return GatherShapes(op, op.declared()); }

absl::StatusOr<Shape> InferAllGatherStart(const OpView& op) {
  ASSIGN_OR_RETURN(Shape gathered, GatherShapes(op, StatedElement(op, 1)));
  return StartShape(op, OperandShapes(op), std::move(gathered));
}

absl::StatusOr<Shape> InferAllGatherDone(const OpView& op) { return DoneShape(op); }

absl::StatusOr<Shape> InferAllReduce(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  if (op.operand_count() == 0) return Fail(op, 3, "expects at least one operand");
  RETURN_IF_ERROR(CheckReducer(op));
  return OperandShapes(op);
}

absl::StatusOr<Shape> InferAllReduceStart(const OpView& op) { return InferAllReduce(op); }

absl::StatusOr<Shape> InferAllReduceDone(const OpView& op) { return op.operand(0).WithoutLayout(); }

absl::StatusOr<Shape> InferReduceScatter(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  RETURN_IF_ERROR(CheckReducer(op));
  const auto& attr = op.attr<ReduceScatterAttrs>();
  return ShardedShapes(op, attr.replica_groups, attr.dimensions, op.declared(), false);
}

// With dimensions, one operand is split and joined along it; without, operand i goes to member i.
absl::StatusOr<Shape> InferAllToAll(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  const auto& attr = op.attr<AllToAllAttrs>();
  if (!attr.dimensions) {
    for (int64_t i = 1; i < op.operand_count(); ++i)
      if (!Compatible(op.operand(i), op.operand(0)))
        return Fail(op, 5, "operands differ in shape: ", Text(op.operand(0)), " and ",
                    Text(op.operand(i)));
    return OperandShapes(op, true);
  }
  const Shape& operand = op.operand(0);
  if (op.operand_count() != 1)
    return Fail(op, 5, "expects one operand with dimensions, found ", op.operand_count());
  RETURN_IF_ERROR(ExpectOneDimension(op, *attr.dimensions, operand.rank(), 2).status());
  return operand.WithoutLayout();
}

// c5: input and output have one type; c6: the four index arrays are integers of one shape, of rank
// 1 or 2.
absl::StatusOr<Shape> InferRaggedAllToAll(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  if (op.operand(0).type != op.operand(1).type || op.operand(0).rank() != op.operand(1).rank())
    return Fail(op, 5, "input and output differ in type or rank: ", Text(op.operand(0)), " and ",
                Text(op.operand(1)));
  const Shape& offsets = op.operand(2);
  for (int i = 2; i < 6; ++i) {
    const Shape& next = op.operand(i);
    if (!IsInteger(next.type) || next.rank() < 1 || next.rank() > 2 || !SameDims(next, offsets))
      return Fail(op, 6, "offsets and sizes are not integers of one shape: ", Text(offsets),
                  " and ", Text(next));
  }
  return op.operand(1).WithoutLayout();
}

absl::StatusOr<Shape> InferCollectiveBroadcast(const OpView& op) {
  RETURN_IF_ERROR(ExpectArrays(op));
  return OperandShapes(op);
}

namespace {

// With slice_sizes: (input, output, input starts, output starts), written in place. c5: these four.
absl::StatusOr<bool> WritesInPlace(const OpView& op) {
  if (op.attr<CollectivePermuteAttrs>().slice_sizes.empty()) return false;
  if (op.operand_count() != 4)
    return Fail(op, 5, "expects input, output and their starts with slice_sizes, found ",
                op.operand_count(), " operands");
  return true;
}

}  // namespace

absl::StatusOr<Shape> InferCollectivePermute(const OpView& op) {
  ASSIGN_OR_RETURN(const bool in_place, WritesInPlace(op));
  if (in_place) return op.operand(1).WithoutLayout();
  RETURN_IF_ERROR(ExpectArrays(op));
  return OperandShapes(op);
}

absl::StatusOr<Shape> InferCollectivePermuteStart(const OpView& op) {
  ASSIGN_OR_RETURN(const bool in_place, WritesInPlace(op));
  if (in_place) return StartShape(op, op.operand(0).WithoutLayout(), op.operand(1).WithoutLayout());
  RETURN_IF_ERROR(ExpectArrays(op));
  return StartShape(op, OperandShapes(op), OperandShapes(op));
}

absl::StatusOr<Shape> InferCollectivePermuteDone(const OpView& op) { return DoneShape(op); }

absl::StatusOr<Shape> InferDeviceId(const OpView&) { return Shape::Scalar(ElementType::kU32); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
