// Collectives, and transfers between devices and the host.
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// The handle of `#stablehlo.channel_handle<handle = 1, type = 0>`; vhlo has it as channel_id. 0 is
// none.
absl::StatusOr<std::optional<int64_t>> ChannelOf(const MlirOperation& op) {
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const OpAttributes handle, attributes.OptionalFields("channel_handle"));
  ASSIGN_OR_RETURN(int64_t id, handle.Int("handle", 0));
  ASSIGN_OR_RETURN(id, attributes.Int("channel_id", id));
  return id > 0 ? std::optional<int64_t>(id) : std::nullopt;
}

// dense<[[0, 1], [2, -1]]>: -1 fills rows of fewer members.
absl::StatusOr<ReplicaGroups> GroupsOf(const MlirOperation& op) {
  ReplicaGroups groups;
  const MlirAttribute* all = op.Find("replica_groups");
  if (all == nullptr) return groups;
  const auto ints = IntsOf(*all);
  if (!ints || all->kind != MlirAttribute::Kind::kDense || all->type->shape.rank() != 2)
    return Unimplemented(op.name, ": replica groups that are no table of numbers");
  const int64_t members = all->type->shape.dims[1];
  for (int64_t i = 0; i < all->type->shape.dims[0]; ++i) {
    auto& group = groups.lists.emplace_back();
    for (int64_t k = 0; k < members; ++k)
      if ((*ints)[i * members + k] >= 0) group.push_back((*ints)[i * members + k]);
  }
  if (groups.lists.size() == 1 && groups.lists[0].empty()) groups.lists.clear();
  return groups;
}

template <typename A>
absl::StatusOr<A> Common(const MlirOperation& op) {
  A attributes;
  ASSIGN_OR_RETURN(attributes.channel_id, ChannelOf(op));
  if constexpr (requires { attributes.replica_groups; }) {
    ASSIGN_OR_RETURN(attributes.replica_groups, GroupsOf(op));
  }
  if constexpr (requires { attributes.use_global_device_ids; }) {
    ASSIGN_OR_RETURN(attributes.use_global_device_ids,
                     OpAttributes(op).Bool("use_global_device_ids", false));
  }
  return attributes;
}

template <typename A>
absl::Status AddCollective(BodyConverter& body, const MlirOperation& op, Opcode opcode,
                           A attributes, bool reduces) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckOperands(op, 1));
  Computation* reducer = nullptr;
  if (reduces) {
    RETURN_IF_ERROR(CheckRegions(op, 1));
    ASSIGN_OR_RETURN(reducer, body.Region(op.regions[0]));
  }
  Instruction* made = body.Add(opcode, body.ShapeOf(op), operands, std::move(attributes));
  if (reducer != nullptr) made->set_called({reducer});
  body.SetResults(op, made);
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertAllReduce(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(AllReduceAttrs attributes, Common<AllReduceAttrs>(op));
  return AddCollective(body, op, Opcode::kAllReduce, std::move(attributes), true);
}

absl::Status ConvertReduceScatter(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(ReduceScatterAttrs attributes, Common<ReduceScatterAttrs>(op));
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("scatter_dimension"));
  attributes.dimensions = {dimension};
  return AddCollective(body, op, Opcode::kReduceScatter, std::move(attributes), true);
}

absl::Status ConvertAllGather(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(AllGatherAttrs attributes, Common<AllGatherAttrs>(op));
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("all_gather_dim"));
  attributes.dimensions = {dimension};
  return AddCollective(body, op, Opcode::kAllGather, std::move(attributes), false);
}

absl::Status ConvertCollectiveBroadcast(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(CollectiveBroadcastAttrs attributes, Common<CollectiveBroadcastAttrs>(op));
  return AddCollective(body, op, Opcode::kCollectiveBroadcast, std::move(attributes), false);
}

absl::Status ConvertCollectivePermute(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(CollectivePermuteAttrs attributes, Common<CollectivePermuteAttrs>(op));
  ASSIGN_OR_RETURN(const DimVector pairs, OpAttributes(op).Ints("source_target_pairs"));
  if (pairs.size() % 2 != 0) return InvalidArgument(op.name, ": expected pairs of devices");
  for (size_t i = 0; i < pairs.size(); i += 2)
    attributes.source_target_pairs.emplace_back(pairs[i], pairs[i + 1]);
  return AddCollective(body, op, Opcode::kCollectivePermute, std::move(attributes), false);
}

// HLO's splits and joins along one dimension; XLA reaches another one by a transpose after it.
absl::Status ConvertAllToAll(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.results.size() != 1)
    return Unimplemented(op.name, " of several operands");
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const int64_t split, attributes.Int("split_dimension"));
  ASSIGN_OR_RETURN(const int64_t join, attributes.Int("concat_dimension"));
  ASSIGN_OR_RETURN(const int64_t parts, attributes.Int("split_count"));
  const Shape from = operands[0]->shape();
  if (!from.IsArray() || split < 0 || split >= from.rank() || join < 0 || join >= from.rank() ||
      parts < 1 || from.dims[split] % parts != 0)
    return InvalidArgument(op.name, ": dimensions or split_count do not fit ", Text(from));
  ASSIGN_OR_RETURN(AllToAllAttrs exchange, Common<AllToAllAttrs>(op));
  exchange.dimensions = DimVector{split};
  Instruction* made = body.Add(Opcode::kAllToAll, from, operands, std::move(exchange));
  if (split != join) {
    DimVector sizes(from.dims), order, moved;
    sizes[split] /= parts;
    sizes.insert(sizes.begin() + split, parts);
    for (int64_t d = 0; d < from.rank(); ++d) {
      if (d == join) order.push_back(split);
      order.push_back(d >= split ? d + 1 : d);
    }
    for (const int64_t d : order) moved.push_back(sizes[d]);
    made = body.Add(Opcode::kReshape, Shape::Array(from.type, sizes).WithDefaultLayout(), {made});
    made = body.Add(Opcode::kTranspose, Shape::Array(from.type, moved).WithDefaultLayout(), {made},
                    DimensionsAttrs{order});
    made = body.Add(Opcode::kReshape, body.ShapeOf(op), {made});
  }
  body.SetResults(op, made);
  return absl::OkStatus();
}

namespace {

// The data before the token, joined where it is several arrays.
absl::StatusOr<std::pair<Instruction*, Instruction*>> DataAndToken(BodyConverter& body,
                                                                   const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  if (operands.empty() || !operands.back()->shape().IsToken())
    return InvalidArgument(op.name, ": the last operand is no token");
  Instruction* token = operands.back();
  operands.pop_back();
  Instruction* data = operands.size() == 1 ? operands[0] : body.Tuple(operands);
  return std::pair(data, token);
}

// The shape of all results but the token.
absl::StatusOr<Shape> DataShape(const MlirOperation& op, bool always_tuple) {
  std::vector<Shape> parts;
  for (const MlirValue& result : op.results) parts.push_back(BodyConverter::ShapeOf(*result.type));
  if (parts.empty() || !parts.back().IsToken())
    return InvalidArgument(op.name, ": the last result is no token");
  parts.pop_back();
  return parts.size() == 1 && !always_tuple ? parts[0] : Shape::Tuple(std::move(parts));
}

// Sets the results of (data, token).
void SetDataAndToken(BodyConverter& body, const MlirOperation& op, Instruction* pair) {
  Instruction* data = body.Element(pair, 0);
  for (size_t i = 0; i + 1 < op.results.size(); ++i)
    body.Set(op.results[i], data->shape().IsTuple() ? body.Element(data, i) : data);
  body.Set(op.results.back(), body.Element(pair, 1));
}

absl::StatusOr<SendRecvAttrs> TransferOf(const MlirOperation& op) {
  SendRecvAttrs transfer;
  ASSIGN_OR_RETURN(transfer.channel_id, ChannelOf(op));
  ASSIGN_OR_RETURN(transfer.is_host_transfer, OpAttributes(op).Bool("is_host_transfer", false));
  return transfer;
}

}  // namespace

absl::Status ConvertInfeed(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const Shape data, DataShape(op, true));
  InfeedAttrs infeed;
  ASSIGN_OR_RETURN(infeed.infeed_config, OpAttributes(op).Word("infeed_config", ""));
  SetDataAndToken(
      body, op,
      body.Add(Opcode::kInfeed, Shape::Tuple({data, Shape::Token()}), operands, std::move(infeed)));
  return absl::OkStatus();
}

absl::Status ConvertOutfeed(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const auto parts, DataAndToken(body, op));
  OutfeedAttrs outfeed;
  outfeed.outfeed_shape = parts.first->shape();
  ASSIGN_OR_RETURN(outfeed.outfeed_config, OpAttributes(op).Word("outfeed_config", ""));
  body.SetResults(op, body.Add(Opcode::kOutfeed, Shape::Token(), {parts.first, parts.second},
                               std::move(outfeed)));
  return absl::OkStatus();
}

absl::Status ConvertSend(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const auto parts, DataAndToken(body, op));
  ASSIGN_OR_RETURN(const SendRecvAttrs transfer, TransferOf(op));
  const Shape flight = Shape::Tuple(
      {parts.first->shape(), Shape::Scalar(ElementType::kU32).WithDefaultLayout(), Shape::Token()});
  Instruction* send = body.Add(Opcode::kSend, flight, {parts.first, parts.second}, transfer);
  body.SetResults(op, body.Add(Opcode::kSendDone, Shape::Token(), {send}, transfer));
  return absl::OkStatus();
}

absl::Status ConvertRecv(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const Shape data, DataShape(op, false));
  ASSIGN_OR_RETURN(const SendRecvAttrs transfer, TransferOf(op));
  const Shape flight =
      Shape::Tuple({data, Shape::Scalar(ElementType::kU32).WithDefaultLayout(), Shape::Token()});
  Instruction* recv = body.Add(Opcode::kRecv, flight, operands, transfer);
  SetDataAndToken(
      body, op,
      body.Add(Opcode::kRecvDone, Shape::Tuple({data, Shape::Token()}), {recv}, transfer));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
