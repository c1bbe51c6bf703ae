// Modules from files: reading, cleaning pasted logs, text or protobuf, verifying.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "proto/proto_file.h"

namespace hlokit {

struct LoadOptions {
  bool verify = true;
  bool for_passes = false;   // also what only VerifyOptions::for_passes takes
  bool allow_unknown_attributes = false;
  bool quiet = false;        // nothing goes to standard error
  std::string input_format;  // text (hlo, txt), pb, pbtxt or json; empty: by content and name
  // Of the arguments of a StableHLO program, where its types leave some open.
  std::vector<DimVector> argument_sizes;
};

struct LoadedModule : ModuleFile {
  std::shared_ptr<const SourceFile> source;
  std::string program;  // which one of a file of several; else empty
  bool for_passes_only = false;  // breaks rules that only VerifyOptions::for_passes lifts
  double parse_s = 0, verify_s = 0;
};

// How a file is encoded as protobuf; nullopt: HLO text. `format` as in LoadOptions decides, else
// the content, else the ending of the name (.pb, .hlo_pb, .pbtxt, .json).
std::optional<ProtoEncoding> EncodingOf(absl::string_view name, absl::string_view bytes,
                                        absl::string_view format = "");

// The file's bytes (standard input for "-"); of a text with log prefixes
// (`I0521 12:04:45.123456  77 x.cc:3] `) blanked out, so that lines and columns stay. Compressed
// files are refused by name.
absl::StatusOr<std::shared_ptr<const SourceFile>> ReadSource(const std::string& path);

// Reads text or protobuf, and verifies. Every error and warning goes to standard error, located;
// the status carries the first error and says nothing new.
absl::StatusOr<LoadedModule> LoadModule(std::shared_ptr<const SourceFile> source,
                                        const LoadOptions& options);

// All programs of a file of MLIR text (ReadStablehloPrograms), each by itself; of other files one.
std::vector<absl::StatusOr<LoadedModule>> LoadModules(std::shared_ptr<const SourceFile> source,
                                                      const LoadOptions& options);

// ReadSource and LoadModule for a tool of one file. Null where either failed: what is wrong has
// been printed under the tool's name, and `exit_status` is what the tool ends with.
std::optional<LoadedModule> LoadFile(absl::string_view tool, const std::string& path,
                                     const LoadOptions& options, int& exit_status);

// Blanks log prefixes in place; true if there were any.
bool BlankLogPrefixes(std::string& text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
