// Modules between the IR and HloModuleProto.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "proto/messages_internal.h"
#include "proto/unknown_fields_internal.h"
#include "proto/wire_internal.h"

namespace hlokit {

// The module of a serialized HloModuleProto, an instruction at a time, so that memory follows the
// module and not the messages. Instructions and computations get the order of their ids, as in XLA.
// Errors: InvalidArgument with the path of the field
// (`computations[2] (%f): instructions[5] (%add): shape: ...`); DataLoss, without a word, where the
// bytes are no message.
absl::StatusOr<std::unique_ptr<Module>> ReadModule(absl::string_view bytes, UnknownFields& unknown);

// A serialized HloModuleProto. Errors: InvalidArgument where an instruction has no form as a
// message, and for more than 2 GiB.
absl::StatusOr<std::string> ModuleBytes(const Module& module, const UnknownFields& unknown);
// The same as a message.
absl::Status WriteModule(const Module& module, const UnknownFields& unknown,
                         pb::HloModuleProto* out);

// All that stands beside the computations, but for ids, the schedule, the stack frames and the
// shape of the program, which AppendHostShape gives as a field of the module's message.
void AppendHostShape(const Module& module, WireWriter& out);
absl::Status WriteHostShape(const Module& module, pb::HloModuleProto* out);
absl::Status WriteHeader(const Module& module, pb::HloModuleProto* out);
absl::Status ReadHeader(const pb::HloModuleProto& in, Seen& seen, ModuleHeader& header);
void WriteProgramShape(const Computation& computation, pb::ProgramShapeProto* out);
void WriteStackFrames(const StackFrameTables& tables, pb::StackFrameIndexProto* out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
