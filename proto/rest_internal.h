// What messages hold beyond what the IR does: unknown fields, and known ones without a place.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "proto/messages_internal.h"

namespace hlokit {

// What of `full` is missing in `written`, which was made from what the IR took of `full`: unknown
// fields, set fields that are not set there, and the same in messages that both have. Elements of
// lists correspond by position while there are as many. Fields numbered in `without` are left out.
// Empty where nothing is missing.
std::string RestOf(const google::protobuf::Message& full, const google::protobuf::Message& written,
                   absl::Span<const int> without = {});

// Puts a rest back; what `out` has by now stays.
void AddRest(const std::string& rest, google::protobuf::Message* out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
