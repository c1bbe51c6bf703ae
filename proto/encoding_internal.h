// Messages from and to bytes, in each encoding.
#pragma once

#include "absl/status/statusor.h"
#include "proto/messages_internal.h"
#include "proto/sniff.h"

namespace hlokit {

// InvalidArgument for a file over 2 GiB.
absl::Status CheckSize(absl::string_view bytes);

// Errors: InvalidArgument; of text files with the place (PlaceOf), of binary ones with the offset.
absl::Status Decode(absl::string_view bytes, ProtoEncoding encoding, const ProtoOptions& options,
                    google::protobuf::Message* message);

// The same, but field 1 (the message that holds the module, which may be large) comes serialized.
absl::StatusOr<std::string> DecodeApart(absl::string_view bytes, ProtoEncoding encoding,
                                        const ProtoOptions& options,
                                        google::protobuf::Message* others);

// A message from bytes that hlokit wrote.
absl::Status DecodeOwn(absl::string_view bytes, google::protobuf::Message* message);

// Appends the message's bytes, the maps in the order of their keys.
void AppendBytes(const google::protobuf::Message& message, std::string& out);

// Errors: InvalidArgument for more than 2 GiB.
absl::Status CheckWrittenSize(size_t bytes);
absl::StatusOr<std::string> Encode(const google::protobuf::Message& message,
                                   ProtoEncoding encoding);

// A module's text file begins with a comment for what XLA's messages have no field for: its reader
// of text would refuse an unknown name.
absl::Status TakeExtrasComment(absl::string_view text, pb::HloModuleProto* module);
std::string ExtrasComment(const pb::HloModuleProto& module);

// Around writing: InvalidArgument, naming the field, where a text was written that is not UTF-8.
void ForgetLibraryError();
absl::Status CheckTextsWritten();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
