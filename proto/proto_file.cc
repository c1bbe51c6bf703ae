// Protobuf files: modules, snapshots and literals.
//
// One file may hold any of XLA's messages around a module: HloProto, HloModuleProto, HloSnapshot,
// HloUnoptimizedSnapshot. BytesInside finds the module inside whichever it is and takes a
// snapshot's arguments and results along; everything behind that sees one HloModuleProto.
#include "proto/proto_file.h"

#include <google/protobuf/arena.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/encoding_internal.h"
#include "proto/literals_internal.h"
#include "proto/modules_internal.h"
#include "proto/shardings_internal.h"
#include "proto/sniff_internal.h"
#include "proto/wire_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using google::protobuf::Arena;
using Literals = google::protobuf::RepeatedPtrField<pb::LiteralProto>;

absl::Status ReadLiterals(const Literals& in, std::vector<Literal>& literals) {
  Seen seen;
  for (int i = 0; i < in.size(); ++i) {
    absl::StatusOr<Literal> literal = Read(in[i], seen);
    if (!literal.ok()) return Annotate(literal.status(), absl::StrCat("arguments[", i, "]"));
    literals.push_back(*std::move(literal));
  }
  return absl::OkStatus();
}

absl::Status ReadResult(const pb::LiteralProto& in, std::optional<Literal>& result) {
  Seen seen;
  absl::StatusOr<Literal> literal = Read(in, seen);
  if (!literal.ok()) return Annotate(literal.status(), "result");
  result = *std::move(literal);
  return absl::OkStatus();
}

const google::protobuf::Descriptor& TypeOf(MessageKind kind) {
  switch (kind) {
    case MessageKind::kHloProto:
      return *pb::HloProto::GetDescriptor();
    case MessageKind::kSnapshot:
      return *pb::HloSnapshot::GetDescriptor();
    case MessageKind::kUnoptimizedSnapshot:
      return *pb::HloUnoptimizedSnapshot::GetDescriptor();
    default:
      return *pb::HloModuleProto::GetDescriptor();
  }
}

// The HloModuleProto inside of what the file holds, serialized; fills in a snapshot's literals.
absl::StatusOr<std::string> BytesInside(absl::string_view bytes, ProtoEncoding encoding,
                                        MessageKind kind, const ProtoOptions& options,
                                        ModuleFile& file) {
  file.is_snapshot = kind != MessageKind::kModule && kind != MessageKind::kHloProto;
  switch (kind) {
    case MessageKind::kHloProto: {
      pb::HloProto message;
      ASSIGN_OR_RETURN(std::string module, DecodeApart(bytes, encoding, options, &message));
      pb::HloModuleProto extras;
      if (encoding == ProtoEncoding::kText) RETURN_IF_ERROR(TakeExtrasComment(bytes, &extras));
      return module +
             extras.SerializeAsString();  // bytes of a message one after the other merge it
    }
    case MessageKind::kUnoptimizedSnapshot: {
      pb::HloUnoptimizedSnapshot message;
      ASSIGN_OR_RETURN(std::string module, DecodeApart(bytes, encoding, options, &message));
      for (const pb::HloInputs& inputs : message.partitions())
        RETURN_IF_ERROR(ReadLiterals(inputs.arguments(), file.arguments.emplace_back()));
      return module;
    }
    case MessageKind::kSnapshot: {
      pb::HloSnapshot message;
      ASSIGN_OR_RETURN(const std::string hlo, DecodeApart(bytes, encoding, options, &message));
      RETURN_IF_ERROR(ReadLiterals(message.arguments(), file.arguments.emplace_back()));
      if (message.has_result()) RETURN_IF_ERROR(ReadResult(message.result(), file.result));
      return std::string(FirstContent(hlo, pb::HloProto::kHloModuleFieldNumber));
    }
    default: {
      pb::HloModuleProto message;
      RETURN_IF_ERROR(Decode(bytes, encoding, options, &message));
      if (encoding == ProtoEncoding::kText) RETURN_IF_ERROR(TakeExtrasComment(bytes, &message));
      return message.SerializeAsString();
    }
  }
}

absl::StatusOr<LiteralFile> ReadIteration(const pb::RunHloModuleIterationLiterals& in) {
  LiteralFile file;
  RETURN_IF_ERROR(ReadLiterals(in.arguments(), file.arguments));
  if (in.has_result()) RETURN_IF_ERROR(ReadResult(in.result(), file.result));
  return file;
}

}  // namespace

absl::StatusOr<ModuleFile> ReadModuleFile(absl::string_view bytes, ProtoEncoding encoding,
                                          const ProtoOptions& options) {
  RETURN_IF_ERROR(CheckSize(bytes));
  const MessageKind kind = SniffKind(bytes, encoding, /*want_literals=*/false);
  ModuleFile file;
  std::string owned;
  absl::string_view module = bytes;
  if (kind != MessageKind::kModule || encoding != ProtoEncoding::kBinary) {
    ASSIGN_OR_RETURN(owned, BytesInside(bytes, encoding, kind, options, file));
    module = owned;
  }
  auto unknown = std::make_shared<UnknownFields>();
  absl::StatusOr<std::unique_ptr<Module>> read = ReadModule(module, *unknown);
  if (absl::IsDataLoss(read.status())) return InvalidArgument(DescribeDamage(bytes, TypeOf(kind)));
  RETURN_IF_ERROR(read.status());
  file.module = *std::move(read);
  file.unknown_fields = std::move(unknown);
  return file;
}

absl::StatusOr<std::unique_ptr<Module>> ReadModuleProto(absl::string_view bytes) {
  ASSIGN_OR_RETURN(ModuleFile file, ReadModuleFile(bytes, ProtoEncoding::kBinary));
  return std::move(file.module);
}

absl::StatusOr<std::string> WriteModuleProto(const Module& module, ProtoEncoding encoding,
                                             const UnknownFields* unknown) {
  const UnknownFields none;
  ForgetLibraryError();
  ASSIGN_OR_RETURN(std::string bytes, ModuleBytes(module, unknown == nullptr ? none : *unknown));
  RETURN_IF_ERROR(CheckTextsWritten());
  if (encoding == ProtoEncoding::kBinary) return bytes;
  Arena arena;
  auto* message = Arena::CreateMessage<pb::HloModuleProto>(&arena);
  RETURN_IF_ERROR(DecodeOwn(bytes, message));
  if (encoding != ProtoEncoding::kText) return Encode(*message, encoding);
  const std::string comment = ExtrasComment(*message);
  message->clear_hlokit();
  ASSIGN_OR_RETURN(const std::string text, Encode(*message, encoding));
  return comment + text;
}

absl::StatusOr<std::string> WriteShardingProto(const Sharding& sharding) {
  pb::OpSharding message;
  RETURN_IF_ERROR(Write(sharding, &message));
  return Encode(message, ProtoEncoding::kBinary);
}

absl::StatusOr<LiteralFile> ReadLiteralFile(absl::string_view bytes, ProtoEncoding encoding) {
  RETURN_IF_ERROR(CheckSize(bytes));
  Arena arena;
  switch (SniffKind(bytes, encoding, /*want_literals=*/true)) {
    case MessageKind::kLiteral: {
      auto* message = Arena::CreateMessage<pb::LiteralProto>(&arena);
      RETURN_IF_ERROR(Decode(bytes, encoding, {}, message));
      Seen seen;
      LiteralFile file;
      ASSIGN_OR_RETURN(Literal literal, Read(*message, seen));
      file.arguments.push_back(std::move(literal));
      return file;
    }
    case MessageKind::kIteration: {
      auto* message = Arena::CreateMessage<pb::RunHloModuleIterationLiterals>(&arena);
      RETURN_IF_ERROR(Decode(bytes, encoding, {}, message));
      return ReadIteration(*message);
    }
    case MessageKind::kLiterals: {
      auto* message = Arena::CreateMessage<pb::RunHloModuleLiterals>(&arena);
      RETURN_IF_ERROR(Decode(bytes, encoding, {}, message));
      if (message->iterations().empty()) return InvalidArgument("iterations: there are none");
      return ReadIteration(message->iterations(0));
    }
    default: {
      ASSIGN_OR_RETURN(ModuleFile module, ReadModuleFile(bytes, encoding));
      if (module.arguments.empty()) return InvalidArgument("holds a module, no literals");
      return LiteralFile{std::move(module.arguments[0]), std::move(module.result)};
    }
  }
}

absl::StatusOr<std::string> WriteLiteralProto(const Literal& literal, ProtoEncoding encoding) {
  pb::LiteralProto message;
  RETURN_IF_ERROR(Write(literal, &message));
  return Encode(message, encoding);
}

absl::StatusOr<std::string> WriteSnapshotProto(const Module& module,
                                               absl::Span<const Literal* const> arguments,
                                               const Literal* result, absl::string_view platform,
                                               ProtoEncoding encoding) {
  ASSIGN_OR_RETURN(const std::string bytes, WriteModuleProto(module, ProtoEncoding::kBinary));
  pb::HloSnapshot message;
  RETURN_IF_ERROR(DecodeOwn(bytes, message.mutable_hlo()->mutable_hlo_module()));
  for (const Literal* argument : arguments)
    RETURN_IF_ERROR(Write(*argument, message.add_arguments()));
  if (result != nullptr) RETURN_IF_ERROR(Write(*result, message.mutable_result()));
  message.set_execution_platform(std::string(platform));
  return Encode(message, encoding);
}

absl::StatusOr<std::string> WriteLiteralsProto(const LiteralFile& literals,
                                               ProtoEncoding encoding) {
  pb::RunHloModuleLiterals message;
  pb::RunHloModuleIterationLiterals* iteration = message.add_iterations();
  for (const Literal& argument : literals.arguments)
    RETURN_IF_ERROR(Write(argument, iteration->add_arguments()));
  if (literals.result) RETURN_IF_ERROR(Write(*literals.result, iteration->mutable_result()));
  return Encode(message, encoding);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
