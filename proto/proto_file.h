// Protobuf files: modules (HloModuleProto, HloProto), snapshots and literals, binary, as text
// (.pbtxt) and as JSON. Bytes in, bytes out: no header of protobuf is needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "proto/sniff.h"

namespace hlokit {

// What a protobuf said of a module and the module has no place for: ids, by which other messages
// go, unknown fields, and known ones that hlokit does not use. A side table by the ids of
// instructions and computations; what a pass makes is not in it, and clones have none.
class UnknownFields;

struct ModuleFile {
  std::unique_ptr<Module> module;
  // For WriteModuleProto; null for modules from text.
  std::shared_ptr<const UnknownFields> unknown_fields;
  // Of a snapshot: arguments in parameter order, by device; what the execution gave.
  std::vector<std::vector<Literal>> arguments;
  std::optional<Literal> result;
  bool is_snapshot = false;
};

// HloModuleProto, HloProto, HloSnapshot and HloUnoptimizedSnapshot are told apart by what they
// hold. The module is not verified. Errors: InvalidArgument with the offset and path of what is
// broken, the place in a text file, or the path of what makes no sense; files over 2 GiB, which no
// reader of protobuf takes. Nesting is limited to 100 levels, memory to a few times the file.
absl::StatusOr<ModuleFile> ReadModuleFile(absl::string_view bytes, ProtoEncoding encoding,
                                          const ProtoOptions& options = {});

// The same for a binary file, of which only the module is wanted.
absl::StatusOr<std::unique_ptr<Module>> ReadModuleProto(absl::string_view bytes);

// An HloModuleProto as XLA would write it, with what `unknown` kept of the message that the module
// was read from. Errors: InvalidArgument where an attribute that is kept as text has no form as a
// message, for text that is not UTF-8, or for more than 2 GiB.
absl::StatusOr<std::string> WriteModuleProto(const Module& module, ProtoEncoding encoding,
                                             const UnknownFields* unknown = nullptr);

// An OpSharding, binary. Errors: InvalidArgument for a sharding kept as text that is no mesh
// sharding.
absl::StatusOr<std::string> WriteShardingProto(const Sharding& sharding);

// An HloSnapshot: a module with the arguments and (unless null) the result of one execution on a
// platform. Errors as WriteModuleProto.
absl::StatusOr<std::string> WriteSnapshotProto(const Module& module,
                                               absl::Span<const Literal* const> arguments,
                                               const Literal* result, absl::string_view platform,
                                               ProtoEncoding encoding);

// The literals of a LiteralProto, of RunHloModuleLiterals (run_hlo_module's; the first iteration),
// or a snapshot's.
struct LiteralFile {
  std::vector<Literal> arguments;
  std::optional<Literal> result;
};
absl::StatusOr<LiteralFile> ReadLiteralFile(absl::string_view bytes, ProtoEncoding encoding);
// A LiteralProto.
absl::StatusOr<std::string> WriteLiteralProto(const Literal& literal, ProtoEncoding encoding);
// RunHloModuleLiterals with one iteration.
absl::StatusOr<std::string> WriteLiteralsProto(const LiteralFile& literals, ProtoEncoding encoding);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
