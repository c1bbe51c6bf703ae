// Shardings and device groups between the IR and their messages.
//
// Messages spell out what the IR leaves unsaid, such as the identity permutation of a tiling.
// Reading drops what is the default, so that a module read from a message and one read from text
// are equal. Device counts are bounded before a list is made: a message of a few bytes may claim
// 2^60 devices.
#include "proto/shardings_internal.h"

#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "parser/parser.h"
#include "proto/metadata_internal.h"
#include "support/limits.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kAs = "shard_as ";
constexpr absl::string_view kLike = "shard_like ";

// More devices than any machine has; device lists are this long at most.

constexpr std::pair<Sharding::Kind, pb::OpSharding::Type> kKinds[] = {
    {Sharding::Kind::kReplicated, pb::OpSharding::REPLICATED},
    {Sharding::Kind::kMaximal, pb::OpSharding::MAXIMAL},
    {Sharding::Kind::kTuple, pb::OpSharding::TUPLE},
    {Sharding::Kind::kTiled, pb::OpSharding::OTHER},
    {Sharding::Kind::kManual, pb::OpSharding::MANUAL},
    {Sharding::Kind::kUnknown, pb::OpSharding::UNKNOWN},
    {Sharding::Kind::kUnreduced, pb::OpSharding::UNREDUCED}};

constexpr std::pair<absl::string_view, pb::OpSharding::Type> kSubgroups[] = {
    {"replicated", pb::OpSharding::REPLICATED},
    {"maximal", pb::OpSharding::MAXIMAL},
    {"manual", pb::OpSharding::MANUAL},
    {"unreduced", pb::OpSharding::UNREDUCED}};

// Positions of a grid; -1 where there are none or too many.
int64_t Positions(const DimVector& dims) {
  int64_t count = 1;
  for (const int64_t d : dims)
    if (d <= 0 || __builtin_mul_overflow(count, d, &count) || count > kMaxDevices) return -1;
  return count;
}

bool Permutes(const DimVector& perm, size_t rank) {
  if (perm.size() != rank) return false;
  std::vector<bool> named(rank, false);
  for (const int64_t d : perm) {
    if (d < 0 || d >= static_cast<int64_t>(rank) || named[d]) return false;
    named[d] = true;
  }
  return true;
}

bool IsIdentity(const DimVector& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

// The messages spell the identity out.
void WriteIota(const DimVector& dims, DimVector perm,
               google::protobuf::RepeatedField<int64_t>* out_dims,
               google::protobuf::RepeatedField<int32_t>* out_perm) {
  if (perm.empty()) {
    perm.resize(dims.size());
    std::iota(perm.begin(), perm.end(), 0);
  }
  Assign(dims, out_dims);
  Assign(perm, out_perm);
}

absl::Status ReadIota(const google::protobuf::RepeatedField<int64_t>& in_dims,
                      const google::protobuf::RepeatedField<int32_t>& in_perm, int64_t devices,
                      DimVector& dims, DimVector& perm) {
  Assign(in_dims, dims);
  Assign(in_perm, perm);
  if (devices < 1 || Positions(dims) != devices)
    return InvalidArgument("iota_reshape_dims do not count the devices of the groups or tiles");
  if (!perm.empty() && !Permutes(perm, dims.size()))
    return InvalidArgument("iota_transpose_perm does not order iota_reshape_dims");
  if (IsIdentity(perm)) perm.clear();
  return absl::OkStatus();
}

void WriteTiles(const Sharding& sharding, pb::OpSharding* out) {
  Assign(sharding.tile_dims, out->mutable_tile_assignment_dimensions());
  if (sharding.iota) {
    WriteIota(sharding.reshape_dims, sharding.transpose_perm, out->mutable_iota_reshape_dims(),
              out->mutable_iota_transpose_perm());
  } else {
    Assign(sharding.devices, out->mutable_tile_assignment_devices());
  }
  out->set_replicate_on_last_tile_dim(sharding.last_tile_dim_replicate);
  for (const std::string& type : sharding.last_tile_dims)
    for (const auto& [text, number] : kSubgroups)
      if (text == type) out->add_last_tile_dims(number);
}

absl::Status ReadTiles(const pb::OpSharding& in, Sharding& sharding) {
  Assign(in.tile_assignment_dimensions(), sharding.tile_dims);
  Assign(in.tile_assignment_devices(), sharding.devices);
  const int64_t tiles = Positions(sharding.tile_dims);
  sharding.iota = in.iota_reshape_dims_size() > 0;
  if (sharding.iota) {
    RETURN_IF_ERROR(ReadIota(in.iota_reshape_dims(), in.iota_transpose_perm(), tiles,
                             sharding.reshape_dims, sharding.transpose_perm));
  } else if (tiles < 1 || tiles != in.tile_assignment_devices_size()) {
    return InvalidArgument("tile_assignment_dimensions and ", in.tile_assignment_devices_size(),
                           " tile_assignment_devices do not agree");
  }
  sharding.last_tile_dim_replicate = in.replicate_on_last_tile_dim();
  for (const int type : in.last_tile_dims()) {
    for (const auto& [text, number] : kSubgroups)
      if (number == type) sharding.last_tile_dims.emplace_back(text);
  }
  if (static_cast<int>(sharding.last_tile_dims.size()) != in.last_tile_dims_size() ||
      sharding.last_tile_dims.size() > sharding.tile_dims.size())
    return InvalidArgument("last_tile_dims does not fit tile_assignment_dimensions");
  return absl::OkStatus();
}

void WriteShardGroup(absl::string_view group, pb::OpSharding* out) {
  if (group.empty()) return;
  out->set_is_shard_group(true);
  if (!absl::ConsumePrefix(&group, kAs) && absl::ConsumePrefix(&group, kLike))
    out->set_shard_group_type(pb::OpSharding::LIKE);
  int64_t id = 0;
  if (absl::SimpleAtoi(group, &id)) out->set_shard_group_id(id);
}

absl::Status ReadNamed(const pb::NamedShardingProto& in, Seen& seen, Sharding& sharding) {
  ASSIGN_OR_RETURN(const std::string text, MeshShardingText(in, seen));
  ASSIGN_OR_RETURN(sharding, ParseSharding(text));
  Read(in.metadata(), seen, sharding.metadata);
  return absl::OkStatus();
}

}  // namespace

absl::Status Write(const Sharding& sharding, pb::OpSharding* out) {
  if (sharding.kind == Sharding::Kind::kText)
    return WriteMeshSharding(sharding, out->mutable_named_sharding());
  for (const auto& [kind, type] : kKinds)
    if (kind == sharding.kind) out->set_type(type);
  if (sharding.kind == Sharding::Kind::kTiled) WriteTiles(sharding, out);
  if (sharding.kind == Sharding::Kind::kMaximal) out->add_tile_assignment_devices(sharding.device);
  for (const Sharding& element : sharding.elements)
    RETURN_IF_ERROR(Write(element, out->add_tuple_shardings()));
  WriteShardGroup(sharding.shard_group, out);
  Write(sharding.metadata, out->mutable_metadata());
  return absl::OkStatus();
}

absl::Status Read(const pb::OpSharding& in, Seen& seen, Sharding& sharding) {
  seen.Note(in);
  if (in.has_tile_shape()) seen.NoteUnknown();
  if (in.has_named_sharding()) return ReadNamed(in.named_sharding(), seen, sharding);
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](const auto& row) { return row.second == in.type(); });
  if (found == std::end(kKinds))
    return InvalidArgument("sharding type ", static_cast<int>(in.type()), " is not known");
  sharding.kind = found->first;
  if (sharding.kind == Sharding::Kind::kTiled) RETURN_IF_ERROR(ReadTiles(in, sharding));
  if (sharding.kind == Sharding::Kind::kTiled && Positions(sharding.tile_dims) == 1)
    sharding = Sharding();  // as XLA reads one tile: the whole array
  if (sharding.kind == Sharding::Kind::kMaximal) {
    if (in.tile_assignment_devices_size() != 1)
      return InvalidArgument("a maximal sharding names one device, not ",
                             in.tile_assignment_devices_size());
    sharding.device = in.tile_assignment_devices(0);
  }
  for (const pb::OpSharding& element : in.tuple_shardings()) {
    if (element.type() == pb::OpSharding::TUPLE)
      return InvalidArgument("a tuple of shardings inside another");
    RETURN_IF_ERROR(Read(element, seen, sharding.elements.emplace_back()));
  }
  if (in.is_shard_group()) {
    const bool like = in.shard_group_type() == pb::OpSharding::LIKE;
    sharding.shard_group = absl::StrCat(like ? kLike : kAs, in.shard_group_id());
  }
  Read(in.metadata(), seen, sharding.metadata);
  return absl::OkStatus();
}

absl::Status Write(const ReplicaGroups& groups, pb::HloInstructionProto* out) {
  switch (groups.form) {
    case ReplicaGroups::Form::kMesh:
      return WriteMeshGroups(groups.mesh_text, out->mutable_mesh_axes_replica_group_list());
    case ReplicaGroups::Form::kIota: {
      pb::IotaReplicaGroupListProto* iota = out->mutable_iota_collective_device_list();
      iota->set_num_replica_groups(groups.iota_dims[0]);
      iota->set_num_devices_per_group(groups.iota_dims[1]);
      WriteIota(groups.reshape_dims, groups.transpose_perm, iota->mutable_iota_reshape_dims(),
                iota->mutable_iota_transpose_perm());
      break;
    }
    case ReplicaGroups::Form::kLists:
      for (const auto& list : groups.lists)
        Assign(list,
               out->mutable_collective_device_list()->add_replica_groups()->mutable_replica_ids());
      out->mutable_collective_device_list();
  }
  return absl::OkStatus();
}

namespace {

absl::Status ReadIotaGroups(const pb::IotaReplicaGroupListProto& in, Seen& seen,
                            ReplicaGroups& groups) {
  seen.Note(in);
  groups.form = ReplicaGroups::Form::kIota;
  groups.iota_dims = {in.num_replica_groups(), in.num_devices_per_group()};
  return ReadIota(in.iota_reshape_dims(), in.iota_transpose_perm(), Positions(groups.iota_dims),
                  groups.reshape_dims, groups.transpose_perm);
}

template <typename Lists>
void ReadLists(const Lists& in, Seen& seen, ReplicaGroups& groups) {
  for (const pb::ReplicaGroup& group : in) {
    seen.Note(group);
    Assign(group.replica_ids(), groups.lists.emplace_back());
  }
}

}  // namespace

absl::Status Read(const pb::HloInstructionProto& in, Seen& seen, ReplicaGroups& groups) {
  if (in.has_mesh_axes_replica_group_list()) {
    ASSIGN_OR_RETURN(const std::string text,
                     MeshGroupsText(in.mesh_axes_replica_group_list(), seen));
    ASSIGN_OR_RETURN(groups, ParseReplicaGroups(text));
    return absl::OkStatus();
  }
  if (in.has_iota_collective_device_list())
    return ReadIotaGroups(in.iota_collective_device_list(), seen, groups);
  const pb::CollectiveDeviceListProto& list = in.collective_device_list();
  seen.Note(list);
  if (list.has_iota_replica_group_list())
    return ReadIotaGroups(list.iota_replica_group_list(), seen, groups);
  ReadLists(in.has_collective_device_list() ? list.replica_groups() : in.replica_groups(), seen,
            groups);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
