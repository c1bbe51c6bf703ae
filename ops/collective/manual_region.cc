// Shards on the way into manual regions, whole arrays on the way out.
#include "ops/collective/manual_region.h"
#include "ops/collective/shards.h"
#include "support/status.h"

namespace hlokit {
namespace {

Literal TupleIf(const Shape& shape, std::vector<Literal> parts) {
  return shape.IsTuple() ? Literal::Tuple(std::move(parts)) : std::move(parts[0]);
}

// The result's arrays and tokens, each of one operand.
absl::StatusOr<std::vector<const Shape*>> ResultParts(const Instruction& instruction,
                                                      const MemberOperands& operands) {
  std::vector<const Shape*> parts;
  if (!instruction.shape().IsTuple()) parts.push_back(&instruction.shape());
  for (const Shape& element : instruction.shape().elements) parts.push_back(&element);
  bool fit = parts.size() == operands.size() && !parts.empty();
  for (size_t i = 0; fit && i < parts.size(); ++i)
    fit = parts[i]->IsToken() ? operands[i]->shape().IsToken()
                              : parts[i]->IsArray() && operands[i]->shape().IsArray();
  if (!fit)
    return InvalidArgument("custom-call ", instruction.attr<CustomCallAttrs>().target, ": ",
                           operands.size(), " operands for ", Text(instruction.shape()));
  return parts;
}

// Where the region is manual on some axes only, its arrays are those of all devices that share
// them: `tiling` without the cut that `local`, on the region's side of the marker, names as well.
absl::StatusOr<Tiling> RegionTiling(const Tiling& tiling, const Instruction& local,
                                    int64_t devices) {
  const Sharding* sharding = local.sharding();
  if (sharding == nullptr || !local.shape().IsArray() || ManualGroupsOf(*sharding, devices).empty())
    return tiling;
  ASSIGN_OR_RETURN(const Tiling finer, TilingOf(*sharding, local.shape(), devices));
  for (size_t d = 0; d < tiling.tiles.size(); ++d)
    if (tiling.tiles[d] % finer.tiles[d] != 0)
      return InvalidArgument(local.name(), ": cut finer inside a manual region than outside");
  return CoarserBy(tiling, finer);
}

// What the marker reads, behind domains that stand between.
const Instruction& ReadBy(const Instruction& marker) {
  const Instruction* read = marker.operand(0);
  while (read->opcode() == Opcode::kDomain) read = read->operand(0);
  return *read;
}

}  // namespace

bool EntersManualRegion(absl::string_view target) {
  return target == "xla.sdy.GlobalToLocalShape" || target == "SPMDFullToShardShape";
}

bool LeavesManualRegion(absl::string_view target) {
  return target == "xla.sdy.LocalToGlobalShape" || target == "SPMDShardToFullShape";
}

// GSPMD's form says on the operand how it is cut; the marker itself only says "manual".
absl::StatusOr<Literal> EnterManualRegion(const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  const MemberOperands own(context.operands.begin(), context.operands.end());
  RETURN_IF_ERROR(ResultParts(instruction, own).status());
  const bool sdy = instruction.attr<CustomCallAttrs>().target != "SPMDFullToShardShape";
  std::vector<const Shape*> wholes;
  for (const Literal* operand : context.operands) wholes.push_back(&operand->shape());
  ASSIGN_OR_RETURN(const std::vector<Tiling> tilings,
                   StatedTilings(sdy ? instruction : ReadBy(instruction),
                                 sdy ? "xla.sdy.in_shardings" : "", wholes, context.partitions));
  std::vector<Literal> parts;
  for (size_t i = 0; i < wholes.size(); ++i) {
    if (wholes[i]->IsToken()) {
      parts.push_back(Literal::Token());
      continue;
    }
    ASSIGN_OR_RETURN(const Tiling tiling,
                     sdy ? tilings[i] : RegionTiling(tilings[i], instruction, context.partitions));
    parts.push_back(ShardOf(*context.operands[i], tiling, context.partition));
  }
  return TupleIf(instruction.shape(), std::move(parts));
}

absl::StatusOr<Literal> LeaveManualRegion(const EvalContext& context) {
  if (context.communicate) return context.communicate(context);
  const MemberOperands own(context.operands.begin(), context.operands.end());
  ASSIGN_OR_RETURN(std::vector<Literal> joined, JoinOperands(context.instruction, {own}));
  return std::move(joined[0]);
}

absl::StatusOr<std::vector<Literal>> JoinOperands(const Instruction& instruction,
                                                  absl::Span<const MemberOperands> members) {
  ASSIGN_OR_RETURN(const std::vector<const Shape*> wholes, ResultParts(instruction, members[0]));
  const auto devices = static_cast<int64_t>(members.size());
  ASSIGN_OR_RETURN(std::vector<Tiling> tilings,
                   StatedTilings(instruction, "xla.sdy.out_shardings", wholes, devices));
  if (instruction.attr<CustomCallAttrs>().target == "SPMDShardToFullShape") {
    ASSIGN_OR_RETURN(tilings[0], RegionTiling(tilings[0], ReadBy(instruction), devices));
  }
  std::vector<std::vector<Literal>> parts(members.size());
  for (size_t i = 0; i < wholes.size(); ++i) {
    if (wholes[i]->IsToken()) {
      for (std::vector<Literal>& own : parts) own.push_back(Literal::Token());
      continue;
    }
    std::vector<const Literal*> shards;
    for (const MemberOperands& member : members) shards.push_back(member[i]);
    if (!SameDims(shards[0]->shape(), ShardShape(*wholes[i], tilings[i])))
      return InvalidArgument("custom-call ", instruction.attr<CustomCallAttrs>().target, ": ",
                             Text(shards[0]->shape()), " is no shard of ", Text(*wholes[i]));
    for (size_t d = 0; d < members.size(); ++d)
      parts[d].push_back(JoinShards(*wholes[i], tilings[i], shards, static_cast<int64_t>(d)));
  }
  std::vector<Literal> joined;
  for (std::vector<Literal>& own : parts)
    joined.push_back(TupleIf(instruction.shape(), std::move(own)));
  return joined;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
