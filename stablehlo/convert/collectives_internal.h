// What collectives say of their participants, for those who convert them.
#pragma once

#include <optional>

#include "stablehlo/convert/converter_internal.h"

namespace hlokit {

// The channel of a collective or transfer; nothing where it has none.
absl::StatusOr<std::optional<int64_t>> ChannelOf(const MlirOperation& op);
// The groups of a collective; empty where it has none: all form one.
absl::StatusOr<ReplicaGroups> GroupsOf(BodyConverter& body, const MlirOperation& op);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
