// The parts of instructions that recur in a module, shapes and metadata: each is read once.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "ir/attribute_types.h"
#include "proto/messages_internal.h"
#include "support/shared.h"
#include "support/text_table.h"

namespace hlokit {

class RecurringParts {
 public:
  // Takes the message of an instruction apart; the bytes must live as long as this. False, and
  // nothing to be read, where they are broken or hold a part twice.
  bool Split(absl::string_view instruction);
  // The message without shape and metadata, after Split.
  const std::string& others() const { return others_; }
  // Errors: DataLoss for bytes that are no message; else as Read in shapes_internal.h.
  absl::StatusOr<Shared<Shape>> ReadShape(Seen& seen);
  // The same; nothing where there is none.
  absl::StatusOr<Shared<OpMetadata>> ReadMetadata(Seen& seen);

 private:
  absl::string_view shape_bytes_, metadata_bytes_;
  std::string others_;
  pb::ShapeProto shape_;
  pb::OpMetadata metadata_;
  TextTable<Shared<Shape>> shapes_;
  TextTable<Shared<OpMetadata>> metadatas_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
