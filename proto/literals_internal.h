// Literals between the IR and their messages.
#pragma once

#include "absl/status/statusor.h"
#include "proto/messages_internal.h"
#include "types/literal.h"

namespace hlokit {

// Errors: InvalidArgument for an array of more than 2 GiB.
absl::Status Write(const Literal& literal, pb::LiteralProto* out);

// Memory follows what the message holds: a shape that promises more elements is an error.
// Errors: InvalidArgument where the shape is wrong or the lists do not fit it.
absl::StatusOr<Literal> Read(const pb::LiteralProto& in, Seen& seen);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
