// Evaluates collectives: the exchange within a group, and a lone device as a group of one.
//
// The functions get the operands of all members, in the group's order, and give the results of all:
//   all-reduce       x0 + x1 + ..., the same for all            all-gather   joined, the same for
// all
//   reduce-scatter   block m of the sum for member m            all-to-all   block m of each for m
// Sums go member by member, from the first, rounded after each step to the type that XLA adds in
// (CollectiveSumType); compiled code keeps the same order. This is the reference: no overlap, no
// trees. Cost: members times elements.
#include "ops/collective/collective.h"

#include <algorithm>
#include <cstring>

#include "ir/op_facts.h"
#include "ops/collective/manual_region.h"
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/lane_reducer.h"
#include "ops/evaluate/movement.h"
#include "ops/evaluate/reducer.h"
#include "ops/evaluate/scalar_program.h"
#include "ops/evaluate/strided.h"
#include "support/status.h"

namespace hlokit {
namespace {

Literal TupleOrOne(std::vector<Literal> parts) {
  return parts.size() == 1 ? std::move(parts[0]) : Literal::Tuple(std::move(parts));
}

// Operand i of all members reduced by the computation, in the order of the group.
absl::StatusOr<Literal> ReduceOperand(const Instruction& instruction,
                                      absl::Span<const MemberOperands> members, size_t i,
                                      const CallComputation& call) {
  Literal total = *members[0][i];
  Reducer reducer(*instruction.to_apply(), call, kChunk);
  const ElementType type = total.type();
  if (IsFloat(type) || IsComplex(type)) reducer.RoundStepsTo(CollectiveSumType(type));
  const int width = ByteWidth(type);
  std::vector<Complex> sums(kChunk), values(kChunk);
  for (int64_t start = 0; start < total.element_count(); start += kChunk) {
    const int64_t n = std::min(kChunk, total.element_count() - start);
    LoadWide(type, total.data() + start * width, n, sums.data());
    for (const MemberOperands& member : members.subspan(1)) {
      LoadWide(type, member[i]->data() + start * width, n, values.data());
      void* const into[] = {sums.data()};
      RETURN_IF_ERROR(reducer.Combine(into, {values.data()}, n));
    }
    StoreWide(type, sums.data(), n, total.data() + start * width);
  }
  return total;
}

absl::StatusOr<std::vector<Literal>> ReduceAll(const Instruction& instruction,
                                               absl::Span<const MemberOperands> members,
                                               const CallComputation& call) {
  std::vector<Literal> totals;
  for (size_t i = 0; i < members[0].size(); ++i) {
    ASSIGN_OR_RETURN(Literal total, ReduceOperand(instruction, members, i, call));
    totals.push_back(std::move(total));
  }
  return totals;
}

// Block `index` of `count` along a dimension.
absl::StatusOr<Literal> Block(const Literal& array, int64_t dimension, int64_t index,
                              int64_t count) {
  const DimVector& dims = array.shape().dims;
  if (dimension >= array.shape().rank() || dims[dimension] % count != 0)
    return InvalidArgument(Text(array.shape()), " does not split into ", count, " along dimension ",
                           dimension);
  DimVector starts(dims.size(), 0), sizes = dims;
  sizes[dimension] /= count;
  starts[dimension] = index * sizes[dimension];
  return SliceBox(array, starts, sizes);
}

Literal Concatenate(absl::Span<const Literal* const> parts, int64_t dimension) {
  DimVector dims = parts[0]->shape().dims, starts(dims.size(), 0);
  dims[dimension] = 0;
  for (const Literal* part : parts) dims[dimension] += part->shape().dims[dimension];
  Literal whole(Shape::Array(parts[0]->type(), dims));
  for (const Literal* part : parts) {
    PlaceBox(*part, starts, whole);
    starts[dimension] += part->shape().dims[dimension];
  }
  return whole;
}

std::vector<Literal> Repeat(const Literal& value, size_t count) {
  return std::vector<Literal>(count, value);
}

std::vector<Literal> AllGather(absl::Span<const MemberOperands> members, int64_t dimension) {
  std::vector<Literal> gathered;
  for (size_t i = 0; i < members[0].size(); ++i) {
    std::vector<const Literal*> parts;
    for (const MemberOperands& member : members) parts.push_back(member[i]);
    gathered.push_back(Concatenate(parts, dimension));
  }
  return Repeat(TupleOrOne(std::move(gathered)), members.size());
}

absl::StatusOr<std::vector<Literal>> ReduceScatter(const Instruction& instruction,
                                                   absl::Span<const MemberOperands> members,
                                                   const CallComputation& call) {
  ASSIGN_OR_RETURN(std::vector<Literal> totals, ReduceAll(instruction, members, call));
  const int64_t dimension = instruction.attr<ReduceScatterAttrs>().dimensions[0];
  std::vector<Literal> results;
  for (size_t m = 0; m < members.size(); ++m) {
    std::vector<Literal> parts;
    for (const Literal& total : totals) {
      ASSIGN_OR_RETURN(Literal block, Block(total, dimension, m, members.size()));
      parts.push_back(std::move(block));
    }
    results.push_back(TupleOrOne(std::move(parts)));
  }
  return results;
}

// Array form: block m of every member, joined, for member m. Tuple form: operand m of every member.
absl::StatusOr<std::vector<Literal>> AllToAll(const Instruction& instruction,
                                              absl::Span<const MemberOperands> members) {
  const auto& dimensions = instruction.attr<AllToAllAttrs>().dimensions;
  std::vector<Literal> results;
  for (size_t m = 0; m < members.size(); ++m) {
    std::vector<Literal> parts;
    std::vector<const Literal*> pointers;
    for (const MemberOperands& member : members) {
      if (dimensions.has_value()) {
        ASSIGN_OR_RETURN(Literal block, Block(*member[0], (*dimensions)[0], m, members.size()));
        parts.push_back(std::move(block));
      } else if (member.size() == members.size()) {
        parts.push_back(*member[m]);
      } else {
        return InvalidArgument("all-to-all: ", member.size(), " operands for a group of ",
                               members.size());
      }
    }
    for (const Literal& part : parts) pointers.push_back(&part);
    if (dimensions.has_value())
      results.push_back(Concatenate(pointers, (*dimensions)[0]));
    else
      results.push_back(Literal::Tuple(std::move(parts)));
  }
  return results;
}

// Operands: input, output, input offsets, send sizes, output offsets (in the receiver's output),
// receive sizes.
absl::StatusOr<std::vector<Literal>> RaggedAllToAll(absl::Span<const MemberOperands> members) {
  std::vector<Literal> results;
  for (const MemberOperands& member : members) results.push_back(*member[1]);
  const int64_t pieces = members[0][2]->element_count();
  const int64_t each = pieces / static_cast<int64_t>(members.size());
  for (const MemberOperands& sender : members) {
    for (int64_t p = 0; p < each * static_cast<int64_t>(members.size()); ++p) {
      Literal& target = results[p / each];
      DimVector sizes = sender[0]->shape().dims, from(sizes.size(), 0), to(sizes.size(), 0);
      sizes[0] = sender[3]->GetInt(p);
      from[0] = sender[2]->GetInt(p);
      to[0] = sender[4]->GetInt(p);
      const bool inside = sizes[0] >= 0 && from[0] >= 0 && to[0] >= 0 &&
                          from[0] <= sender[0]->shape().dims[0] - sizes[0] &&
                          to[0] <= target.shape().dims[0] - sizes[0];
      if (!inside) return InvalidArgument("ragged-all-to-all: piece ", p, " is out of bounds");
      PlaceBox(SliceBox(*sender[0], from, sizes), to, target);
    }
  }
  return results;
}

// Members are all devices that pairs may name; who receives nothing gets zeros.
absl::StatusOr<std::vector<Literal>> Permute(const Instruction& instruction,
                                             absl::Span<const MemberOperands> members) {
  std::vector<Literal> results;
  for (const MemberOperands& member : members) {
    std::vector<Literal> zeros;
    for (const Literal* operand : member) zeros.emplace_back(operand->shape());
    results.push_back(TupleOrOne(std::move(zeros)));
  }
  const int64_t count = members.size();
  for (const auto& [source, target] :
       instruction.attr<CollectivePermuteAttrs>().source_target_pairs) {
    if (source < 0 || source >= count || target < 0 || target >= count)
      return InvalidArgument("collective-permute: pair {", source, ",", target,
                             "} names no device");
    std::vector<Literal> sent;
    for (const Literal* operand : members[source]) sent.push_back(*operand);
    results[target] = TupleOrOne(std::move(sent));
  }
  return results;
}

}  // namespace

absl::StatusOr<std::vector<Literal>> EvaluateGroup(const Instruction& instruction,
                                                   absl::Span<const MemberOperands> members,
                                                   const CallComputation& call) {
  const Opcode opcode = instruction.opcode();
  switch (WholeOf(opcode).value_or(opcode)) {
    case Opcode::kAllReduce: {
      ASSIGN_OR_RETURN(std::vector<Literal> totals, ReduceAll(instruction, members, call));
      return Repeat(TupleOrOne(std::move(totals)), members.size());
    }
    case Opcode::kAllGather:
      return AllGather(members, instruction.attr<AllGatherAttrs>().dimensions[0]);
    case Opcode::kReduceScatter:
      return ReduceScatter(instruction, members, call);
    case Opcode::kAllToAll:
      return AllToAll(instruction, members);
    case Opcode::kRaggedAllToAll:
      return RaggedAllToAll(members);
    case Opcode::kCollectiveBroadcast:
      return Repeat(*members[0][0], members.size());
    case Opcode::kCollectivePermute:
      return Permute(instruction, members);
    case Opcode::kCustomCall:
      return JoinOperands(instruction, members);
    default:
      return Unimplemented("collective ", Text(instruction.opcode()));
  }
}

Literal WrapStart(const Instruction& instruction, absl::Span<const Literal* const> operands,
                  Literal result) {
  const Opcode opcode = instruction.opcode();
  if (opcode != Opcode::kAllGatherStart && opcode != Opcode::kCollectivePermuteStart) return result;
  Literal all(instruction.shape());
  if (all.elements().size() < 2) return result;
  std::vector<Literal> copies;
  for (const Literal* operand : operands) copies.push_back(*operand);
  all.elements()[0] = TupleOrOne(std::move(copies));
  all.elements()[1] = std::move(result);
  return all;
}

absl::StatusOr<Literal> EvaluateCollective(const EvalContext& context) {
  if (context.communicate) return context.communicate(context);
  const MemberOperands own(context.operands.begin(), context.operands.end());
  if (own.empty()) return Literal::Tuple({});
  ASSIGN_OR_RETURN(std::vector<Literal> results,
                   EvaluateGroup(context.instruction, {own}, context.call));
  return WrapStart(context.instruction, context.operands, std::move(results[0]));
}

absl::StatusOr<Literal> EvaluateSendRecv(const EvalContext& context) {
  if (context.communicate) return context.communicate(context);
  return Unimplemented(Text(context.instruction.opcode()), " without other devices");
}

absl::StatusOr<Literal> EvaluateInfeed(const EvalContext& context) {
  if (context.communicate) return context.communicate(context);
  return FailedPrecondition("infeed: nothing was given to feed in");
}

absl::StatusOr<Literal> EvaluateOutfeed(const EvalContext& context) {
  if (context.communicate) return context.communicate(context);
  return Literal::Token();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
