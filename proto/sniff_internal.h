// Which of the known messages a file holds, by its content.
#pragma once

#include "absl/strings/string_view.h"
#include "proto/sniff.h"

namespace hlokit {

enum class MessageKind : uint8_t {
  kModule,               // HloModuleProto
  kHloProto,             // HloProto
  kSnapshot,             // HloSnapshot
  kUnoptimizedSnapshot,  // HloUnoptimizedSnapshot
  kLiteral,              // LiteralProto
  kIteration,            // RunHloModuleIterationLiterals
  kLiterals,             // RunHloModuleLiterals
};

// The likeliest kind: broken files get one as well. `want_literals` chooses between the first four
// and the last three where a file could be either.
MessageKind SniffKind(absl::string_view bytes, ProtoEncoding encoding, bool want_literals);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
