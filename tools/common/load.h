// Modules from files: reading, cleaning pasted logs, parsing, verifying.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

struct LoadOptions {
  bool verify = true;
  bool allow_unknown_attributes = false;
};

struct LoadedModule {
  std::unique_ptr<Module> module;
  double parse_s = 0, verify_s = 0;
};

// The file's text (standard input for "-") with log prefixes (`I0521 12:04:45.123456  77 x.cc:3] `)
// blanked out, so that lines and columns stay. Protobuf dumps are refused by name.
absl::StatusOr<std::shared_ptr<const SourceFile>> ReadSource(const std::string& path);

// Parses and verifies. Every error and warning goes to standard error, located; the status carries
// the first error and says nothing new.
absl::StatusOr<LoadedModule> LoadModule(std::shared_ptr<const SourceFile> source,
                                        const LoadOptions& options);

// Blanks log prefixes in place; true if there were any.
bool BlankLogPrefixes(std::string& text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
