// StableHLO programs, as MLIR text or MLIR bytecode, read as modules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "stablehlo/entry_wishes.h"
#include "support/diagnostics.h"

namespace hlokit {

// Whether the content is MLIR: bytecode by its magic number, text by its first word (`module`,
// `func.func`, `#loc`, `"builtin.module"`, ...).
bool IsMlir(absl::string_view bytes);
bool IsMlirBytecode(absl::string_view bytes);

// Reads StableHLO and the dialects beside it (chlo, func, vhlo, sdy), and converts it as XLA does.
// Errors: InvalidArgument and Unimplemented with a place in a text; in bytecode with the offset.
// The module is not verified. A file of several programs is an error, which names them. HLO has no
// words for `wishes`: they are told where it is not null.
absl::StatusOr<std::unique_ptr<Module>> ReadStablehlo(const std::shared_ptr<const SourceFile>& file,
                                                      EntryWishes* wishes = nullptr);

// A program of a file, or why it is none.
struct StablehloProgram {
  std::string name;  // of its entry; `part 2` where that is not known
  absl::StatusOr<std::unique_ptr<Module>> module;
  EntryWishes wishes;
};

// All programs of a file, at least one; `sizes` as ConvertMlir's, of each program: lines `// -----` part those of a text, as in MLIR's own
// tests, and where no function is called main each public one that no other names is a program.
std::vector<StablehloProgram> ReadStablehloPrograms(const std::shared_ptr<const SourceFile>& file,
                                                    absl::Span<const DimVector> sizes = {});

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
