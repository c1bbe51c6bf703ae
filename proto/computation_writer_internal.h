// The bytes of computations' messages, written field by field.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/instructions_internal.h"
#include "proto/known_bytes_internal.h"
#include "proto/known_others_internal.h"
#include "proto/unknown_fields_internal.h"
#include "proto/wire_internal.h"

namespace hlokit {

// libprotobuf makes what recurs (shapes, attributes) once, and what has unknown fields.
class ComputationWriter {
 public:
  ComputationWriter(const ProtoIds& ids, const StackFrameNumbering& frames,
                    const UnknownFields& unknown)
      : ids_(ids), frames_(frames), unknown_(unknown) {}

  // As a field `computations` of a module; `fused` where a fusion calls it. Errors:
  // InvalidArgument, naming the instruction, for what has no form as a message, and for more than 2
  // GiB.
  absl::Status Append(const Computation& computation, bool fused, WireWriter& out);

 private:
  absl::Status AppendInstruction(const Instruction& instruction, WireWriter& out);
  absl::Status AppendParts(const Instruction& instruction, WireWriter& out);
  absl::Status AppendWithUnknown(const Instruction& instruction, const std::string& unknown,
                                 WireWriter& out);
  void AppendMetadata(const Instruction& instruction, WireWriter& out);
  void AppendTail(const Computation& computation, bool fused, WireWriter& out);
  void AppendTailWithUnknown(const Computation& computation, bool fused, const std::string& unknown,
                             WireWriter& out);
  void AppendProgramShape(const Computation& computation, WireWriter& out);
  KnownBytes::Field ShapeField(const Shape& shape);
  absl::string_view MetadataField(const Instruction& instruction);

  const ProtoIds& ids_;
  const StackFrameNumbering& frames_;
  const UnknownFields& unknown_;
  KnownOthers others_;
  KnownBytes shapes_{pb::HloInstructionProto::kShapeFieldNumber};
  KnownBytes metadata_{pb::HloInstructionProto::kMetadataFieldNumber};
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
