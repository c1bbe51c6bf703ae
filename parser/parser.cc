// The entry points that read modules and computations.
#include "parser/parser.h"

#include "parser/module_parser_internal.h"

namespace hlokit {
namespace {

absl::Status CheckSize(absl::string_view text, Diagnostics& diagnostics) {
  if (static_cast<int64_t>(text.size()) <= kMaxTextBytes) return absl::OkStatus();
  diagnostics.Error(SourcePlace(), "", "the text is larger than ", kMaxTextBytes, " bytes");
  return diagnostics.ToStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ParseModule(std::shared_ptr<const SourceFile> file,
                                                    const ParseOptions& options,
                                                    Diagnostics& diagnostics) {
  RETURN_IF_ERROR(CheckSize(file->text(), diagnostics));
  const int errors_before = diagnostics.error_count();
  std::unique_ptr<Module> module = ModuleParser(file, options, diagnostics).Run();
  if (module != nullptr && diagnostics.error_count() == errors_before) return module;
  return diagnostics.ToStatus();
}

absl::StatusOr<std::unique_ptr<Module>> ParseModule(absl::string_view text,
                                                    const ParseOptions& options) {
  Diagnostics diagnostics;
  return ParseModule(std::make_shared<const SourceFile>("<text>", std::string(text)), options,
                     diagnostics);
}

absl::StatusOr<Computation*> ParseComputation(absl::string_view text, Module& module,
                                              const ParseOptions& options) {
  Diagnostics diagnostics;
  RETURN_IF_ERROR(CheckSize(text, diagnostics));
  const std::string copy(text);  // ends in NUL
  Computation* last = ModuleParser(copy, module, options, diagnostics).RunComputations();
  if (last != nullptr) return last;
  return diagnostics.ToStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
