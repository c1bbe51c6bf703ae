// What collectives say of their participants, for those who convert them.
#pragma once

#include <optional>

#include "stablehlo/convert/converter_internal.h"

namespace hlokit {

// The channel of a collective or transfer; nothing where it has none.
absl::StatusOr<std::optional<int64_t>> ChannelOf(const MlirOperation& op);
// The groups of a collective; empty where it has none: all form one.
absl::StatusOr<ReplicaGroups> GroupsOf(BodyConverter& body, const MlirOperation& op);

// How the groups of a collective are meant where it has a channel: kPartitions are partitions of a
// replica then, kByChannel replicas with all their partitions, or devices where it says so. kNone:
// the operation is no collective.
enum class Meeting { kNone, kReplicas, kPartitions, kByChannel };
Meeting MeetingOf(absl::string_view name);
// The first operation in regions of `op`, and in functions called there, that asks which process it
// is or meets others; null where there is none.
const MlirOperation* MeetingInside(const MlirOperation& op, const ModuleConverter& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
