// Shardings and device groups between the IR and their messages.
#pragma once

#include "absl/status/status.h"
#include "ir/attribute_types.h"
#include "ir/sharding.h"
#include "proto/messages_internal.h"

namespace hlokit {

// Errors: InvalidArgument for a sharding kept as text that is no mesh sharding.
absl::Status Write(const Sharding& sharding, pb::OpSharding* out);
// Errors: InvalidArgument where tiles and devices do not agree, or a mesh has no such axis.
absl::Status Read(const pb::OpSharding& in, Seen& seen, Sharding& sharding);

absl::Status Write(const ReplicaGroups& groups, pb::HloInstructionProto* out);
absl::Status Read(const pb::HloInstructionProto& in, Seen& seen, ReplicaGroups& groups);

// The text of a mesh (`mesh['a'=2,'b'=4], device_ids=(..)`) and of what names its axes, as messages
// and back; the text of a sharding is without its metadata.
absl::Status WriteMeshSharding(const Sharding& sharding, pb::NamedShardingProto* out);
absl::StatusOr<std::string> MeshShardingText(const pb::NamedShardingProto& in, Seen& seen);
absl::Status WriteMeshGroups(absl::string_view text, pb::MeshAxesReplicaGroupListProto* out);
absl::StatusOr<std::string> MeshGroupsText(const pb::MeshAxesReplicaGroupListProto& in, Seen& seen);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
