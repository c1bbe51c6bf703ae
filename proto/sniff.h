// What a protobuf file is, by its content.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hlokit {

enum class ProtoEncoding : uint8_t { kBinary, kText, kJson };

// How a file is encoded, by its content; nullopt: no protobuf, so HLO text. Looks at the start
// only, but for binary files of up to a MiB, which are walked through.
std::optional<ProtoEncoding> SniffProto(absl::string_view bytes);

// InvalidArgument for a container that has to be unpacked first: gzip, zstd, xz, zip, Riegeli.
absl::Status CheckNotPacked(absl::string_view bytes);

struct ProtoOptions {
  // Fields of text and JSON files that this version does not know are passed over. Those of binary
  // files are always kept.
  bool allow_unknown_fields = false;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
