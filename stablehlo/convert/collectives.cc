// Collectives, and transfers between devices and the host.
//
//   "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>,
//      channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}>
//   ->  all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true
// Groups over a mesh (`#stablehlo.replica_group_mesh_axes<mesh = @m, axes = ["x"]>`) become HLO's
// text of the same groups, which HLO's own reader takes: devices that differ only in the named axes
// form a group. A row of fewer members is filled with -1.
// send, recv, infeed and outfeed return their data and a token; HLO has them as tuples, which are
// taken apart again here so that each MLIR result has its instruction.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "parser/parser.h"
#include "stablehlo/convert/collectives_internal.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
// The handle of `#stablehlo.channel_handle<handle = 1, type = 0>`; vhlo has it as channel_id. 0 is
// none.
absl::StatusOr<std::optional<int64_t>> ChannelOf(const MlirOperation& op) {
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const OpAttributes handle, attributes.OptionalFields("channel_handle"));
  ASSIGN_OR_RETURN(int64_t id, handle.Int("handle", 0));
  ASSIGN_OR_RETURN(id, attributes.Int("channel_id", id));
  return id > 0 ? std::optional<int64_t>(id) : std::nullopt;
}

namespace {

std::string SingleQuoted(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\"", "'"}});
}

// HLO's text of a mesh of sdy, whose text is `["a"=2, "b"=4], device_ids=[1, 0, ...]`.
std::string MeshText(absl::string_view mesh) {
  const size_t devices = std::min(mesh.find(", device_ids=["), mesh.size());
  const std::string text = absl::StrCat("mesh", SingleQuoted(mesh.substr(0, devices)));
  if (devices == mesh.size()) return text;
  absl::string_view ids = mesh.substr(mesh.find('[', devices) + 1);
  absl::ConsumeSuffix(&ids, "]");
  return absl::StrCat(text, ", device_ids=(", ids, ")");
}

// HLO's text of the mesh of that symbol, or of the mesh itself, #stablehlo.mesh<axes = [..]>; empty
// where there is none.
std::string MeshNamed(const MlirModule& program, const MlirAttribute& name) {
  if (const MlirAttribute* axes = name.Field("axes")) {
    std::string text;
    for (const MlirAttribute* axis : axes->elements) {
      const MlirAttribute *own = axis->Field("name"), *size = axis->Field("size");
      const auto ints = size == nullptr ? std::nullopt : IntsOf(*size);
      const int64_t count = ints && ints->size() == 1 ? ints->front()
                            : size != nullptr         ? size->integer
                                                      : 0;
      absl::StrAppend(&text, text.empty() ? "" : ",", "'", own == nullptr ? "" : own->text,
                      "'=", count);
    }
    const MlirAttribute* ids = name.Field("device_ids");
    const auto devices = ids == nullptr ? std::nullopt : IntsOf(*ids);
    return absl::StrCat("mesh[", text, "]", devices ? ", device_ids=(" : "",
                        devices ? absl::StrJoin(*devices, ",") : "", devices ? ")" : "");
  }
  for (const auto& other : program.top().regions[0].blocks[0]->operations)
    if (const MlirAttribute* own = other->Find("sym_name");
        other->name == "sdy.mesh" && own != nullptr && own->text == name.text)
      if (const MlirAttribute* mesh = other->Find("mesh")) return MeshText(mesh->text);
  return "";
}

// #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [..]>: devices that differ in the named
// axes alone form a group. An axis is #stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>.
absl::StatusOr<ReplicaGroups> MeshGroupsOf(const MlirModule& program, const MlirOperation& op,
                                           const MlirAttribute& groups) {
  const MlirAttribute* name = groups.Field("mesh");
  if (name == nullptr) name = groups.Field("mesh_name");
  const MlirAttribute* axes = groups.Field("axes");
  if (name == nullptr || axes == nullptr)
    return InvalidArgument(op.name, ": replica groups without a mesh or axes");
  const std::string mesh = MeshNamed(program, *name);
  if (mesh.empty()) return InvalidArgument(op.name, ": there is no mesh ", name->text);
  std::string text;
  for (const MlirAttribute* axis : axes->elements) {
    const MlirAttribute* own = axis->Field("name");
    const MlirAttribute* part = axis->Field("sub_axis_info");
    if (own == nullptr && !axis->text.empty()) {  // #sdy<axis_ref"b":(1)2>
      absl::StrAppend(&text, text.empty() ? "" : ",", SingleQuoted(axis->text));
      continue;
    }
    if (own == nullptr) return InvalidArgument(op.name, ": an axis has no name");
    absl::StrAppend(&text, text.empty() ? "" : ",", "'", own->text, "'");
    if (part != nullptr && part->ints.size() == 2)
      absl::StrAppend(&text, ":(", part->ints[0], ")", part->ints[1]);
  }
  auto read = ParseReplicaGroups(absl::StrCat(mesh, " {", text, "}"));
  if (!read.ok()) return InvalidArgument(op.name, ": ", read.status().message());
  return read;
}

}  // namespace

// dense<[[0, 1], [2, -1]]>: -1 fills rows of fewer members.
absl::StatusOr<ReplicaGroups> GroupsOf(BodyConverter& body, const MlirOperation& op) {
  ReplicaGroups groups;
  const MlirAttribute* all = op.Find("replica_groups");
  if (all == nullptr) return groups;
  if (all->kind == MlirAttribute::Kind::kDict)
    return MeshGroupsOf(body.module().program(), op, *all);
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

namespace {

template <typename A>
absl::StatusOr<A> Common(BodyConverter& body, const MlirOperation& op) {
  A attributes;
  ASSIGN_OR_RETURN(attributes.channel_id, ChannelOf(op));
  if constexpr (requires { attributes.replica_groups; }) {
    ASSIGN_OR_RETURN(attributes.replica_groups, GroupsOf(body, op));
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
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(CheckOperands(op, 1));
  // XLA's conversion makes one tuple of several operands, and takes it apart again.
  if (operands.size() > 1 && (opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather)) {
    Instruction* all = body.Tuple(operands);
    for (size_t i = 0; i < operands.size(); ++i)
      operands[i] = body.Element(all, static_cast<int64_t>(i));
  }
  Computation* reducer = nullptr;
  if (reduces) {
    RETURN_IF_ERROR(CheckRegions(op, 1));
    for (size_t i = 0; i < operands.size(); ++i)
      RETURN_IF_ERROR(
          Promote(body, op, op.regions[0], 0, i, absl::MakeSpan(operands).subspan(i, 1)));
    ASSIGN_OR_RETURN(reducer, body.Region(op.regions[0]));
  }
  Instruction* made = body.Add(opcode, body.ShapeOf(op), operands, std::move(attributes));
  if (reducer != nullptr) made->set_called({reducer});
  body.SetResults(op, made);
  return absl::OkStatus();
}

struct AllToAllDims {
  int64_t split = 0, join = 0, parts = 1;
};

// Moves the parts along `split` to `join`.
Instruction* JoinParts(BodyConverter& body, Instruction* exchanged, const AllToAllDims& dims,
                       const Shape& result) {
  if (dims.split == dims.join) return exchanged;
  const Shape from = exchanged->shape();
  DimVector sizes(from.dims), order, moved;
  sizes[dims.split] /= dims.parts;
  sizes.insert(sizes.begin() + dims.split, dims.parts);
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (d == dims.join) order.push_back(dims.split);
    order.push_back(d >= dims.split ? d + 1 : d);
  }
  for (const int64_t d : order) moved.push_back(sizes[d]);
  Instruction* made =
      body.Add(Opcode::kReshape, Shape::Array(from.type, sizes).WithDefaultLayout(), {exchanged});
  made = body.Add(Opcode::kTranspose, Shape::Array(from.type, moved).WithDefaultLayout(), {made},
                  DimensionsAttrs{order});
  PermuteLayout(*made);
  return body.Add(Opcode::kReshape, result, {made});
}

}  // namespace

absl::Status ConvertAllReduce(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(AllReduceAttrs attributes, Common<AllReduceAttrs>(body, op));
  return AddCollective(body, op, Opcode::kAllReduce, std::move(attributes), true);
}

absl::Status ConvertReduceScatter(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(ReduceScatterAttrs attributes, Common<ReduceScatterAttrs>(body, op));
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("scatter_dimension"));
  attributes.dimensions = {dimension};
  return AddCollective(body, op, Opcode::kReduceScatter, std::move(attributes), true);
}

absl::Status ConvertAllGather(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(AllGatherAttrs attributes, Common<AllGatherAttrs>(body, op));
  ASSIGN_OR_RETURN(const int64_t dimension, OpAttributes(op).Int("all_gather_dim"));
  attributes.dimensions = {dimension};
  return AddCollective(body, op, Opcode::kAllGather, std::move(attributes), false);
}

absl::Status ConvertCollectiveBroadcast(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(CollectiveBroadcastAttrs attributes, Common<CollectiveBroadcastAttrs>(body, op));
  return AddCollective(body, op, Opcode::kCollectiveBroadcast, std::move(attributes), false);
}

absl::Status ConvertCollectivePermute(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(CollectivePermuteAttrs attributes, Common<CollectivePermuteAttrs>(body, op));
  ASSIGN_OR_RETURN(const DimVector pairs, OpAttributes(op).Ints("source_target_pairs"));
  if (pairs.size() % 2 != 0) return InvalidArgument(op.name, ": expected pairs of devices");
  for (size_t i = 0; i < pairs.size(); i += 2)
    attributes.source_target_pairs.emplace_back(pairs[i], pairs[i + 1]);
  return AddCollective(body, op, Opcode::kCollectivePermute, std::move(attributes), false);
}

// HLO's splits and joins along one dimension; XLA reaches another one by a transpose after it. Of
// several operands each is exchanged by itself.
absl::Status ConvertAllToAll(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.empty() || op.results.size() != operands.size())
    return InvalidArgument(op.name, ": expected operands, and a result for each");
  const OpAttributes attributes(op);
  AllToAllDims dims;
  ASSIGN_OR_RETURN(dims.split, attributes.Int("split_dimension"));
  ASSIGN_OR_RETURN(dims.join, attributes.Int("concat_dimension"));
  ASSIGN_OR_RETURN(dims.parts, attributes.Int("split_count"));
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& from = operands[i]->shape();
    if (!from.IsArray() || dims.split < 0 || dims.split >= from.rank() || dims.join < 0 ||
        dims.join >= from.rank() || dims.parts < 1 || from.dims[dims.split] % dims.parts != 0)
      return InvalidArgument(op.name, ": dimensions or split_count do not fit ", Text(from));
    ASSIGN_OR_RETURN(AllToAllAttrs attrs, Common<AllToAllAttrs>(body, op));
    attrs.dimensions = DimVector{dims.split};
    Instruction* made = body.Add(Opcode::kAllToAll, from, {operands[i]}, std::move(attrs));
    RETURN_IF_ERROR(SetExtraAttributes(op.attributes, *made));
    body.Set(op.results[i], JoinParts(body, made, dims, body.ShapeOf(*op.results[i].type)));
  }
  return absl::OkStatus();
}

namespace {

// The pairs of devices that a transfer names hold of each instruction that it becomes.
absl::Status MarkTransfer(const MlirOperation& op, absl::Span<Instruction* const> made) {
  ASSIGN_OR_RETURN(const DimVector pairs, OpAttributes(op).OptionalInts("source_target_pairs"));
  if (pairs.size() % 2 != 0) return InvalidArgument(op.name, ": expected pairs of devices");
  std::vector<std::string> texts;
  for (size_t i = 0; i < pairs.size(); i += 2)
    texts.push_back(absl::StrCat("{", pairs[i], ",", pairs[i + 1], "}"));
  for (Instruction* i : made)
    if (!texts.empty())
      AddFrontendAttribute(*i, "_xla_send_recv_source_target_pairs",
                           absl::StrCat("{", absl::StrJoin(texts, ","), "}"));
  return absl::OkStatus();
}

// The data before the token, joined where it is several arrays, or always.
absl::StatusOr<std::pair<Instruction*, Instruction*>> DataAndToken(BodyConverter& body,
                                                                   const MlirOperation& op,
                                                                   bool always_tuple) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  if (operands.empty() || !operands.back()->shape().IsToken())
    return InvalidArgument(op.name, ": the last operand is no token");
  Instruction* token = operands.back();
  operands.pop_back();
  Instruction* data = operands.size() == 1 && !always_tuple ? operands[0] : body.Tuple(operands);
  return std::pair(data, token);
}

// The shape of all results but the token, in the layouts that the operation gives them.
absl::StatusOr<Shape> DataShape(const MlirOperation& op, bool always_tuple) {
  const MlirAttribute* layouts = op.Find("layout");
  std::vector<Shape> parts;
  for (const MlirValue& result : op.results) parts.push_back(BodyConverter::ShapeOf(*result.type));
  if (parts.empty() || !parts.back().IsToken())
    return InvalidArgument(op.name, ": the last result is no token");
  parts.pop_back();
  if (layouts != nullptr && layouts->kind == MlirAttribute::Kind::kArray &&
      !layouts->elements.empty()) {
    if (layouts->elements.size() != parts.size())
      return InvalidArgument(op.name, ": expected a layout for each of ", parts.size(), " arrays");
    for (size_t i = 0; i < parts.size(); ++i) {
      ASSIGN_OR_RETURN(parts[i], WithLayout(parts[i], *layouts->elements[i]));
    }
  }
  return parts.size() == 1 && !always_tuple ? parts[0] : Shape::Tuple(std::move(parts));
}

// Sets the results of (data, token), which `flight` started where it is another instruction.
absl::Status SetDataAndToken(BodyConverter& body, const MlirOperation& op, Instruction* flight,
                             Instruction* pair) {
  Instruction* data = body.Element(pair, 0);
  std::vector<Instruction*> made = {flight, pair, data};
  for (size_t i = 0; i + 1 < op.results.size(); ++i) {
    if (data->shape().IsTuple()) made.push_back(body.Element(data, i));
    body.Set(op.results[i], made.back());
  }
  made.push_back(body.Element(pair, 1));
  body.Set(op.results.back(), made.back());
  return MarkTransfer(op, made);
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
  Instruction* made =
      body.Add(Opcode::kInfeed, Shape::Tuple({data, Shape::Token()}), operands, std::move(infeed));
  return SetDataAndToken(body, op, made, made);
}

absl::Status ConvertOutfeed(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const auto parts, DataAndToken(body, op, /*always_tuple=*/true));
  OutfeedAttrs outfeed;
  outfeed.outfeed_shape = parts.first->shape();
  ASSIGN_OR_RETURN(outfeed.outfeed_config, OpAttributes(op).Word("outfeed_config", ""));
  body.SetResults(op, body.Add(Opcode::kOutfeed, Shape::Token(), {parts.first, parts.second},
                               std::move(outfeed)));
  return absl::OkStatus();
}

absl::Status ConvertSend(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const auto parts, DataAndToken(body, op, /*always_tuple=*/false));
  ASSIGN_OR_RETURN(const SendRecvAttrs transfer, TransferOf(op));
  const Shape flight =
      Shape::Tuple({parts.first->shape(), Shape::Scalar(ElementType::kU32), Shape::Token()});
  Instruction* send = body.Add(Opcode::kSend, flight, {parts.first, parts.second}, transfer);
  Instruction* done = body.Add(Opcode::kSendDone, Shape::Token(), {send}, transfer);
  body.SetResults(op, done);
  return MarkTransfer(op, {send, done});
}

absl::Status ConvertRecv(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const Shape data, DataShape(op, false));
  ASSIGN_OR_RETURN(const SendRecvAttrs transfer, TransferOf(op));
  const Shape flight = Shape::Tuple({data, Shape::Scalar(ElementType::kU32), Shape::Token()});
  Instruction* recv = body.Add(Opcode::kRecv, flight, operands, transfer);
  return SetDataAndToken(
      body, op, recv,
      body.Add(Opcode::kRecvDone, Shape::Tuple({data, Shape::Token()}), {recv}, transfer));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
