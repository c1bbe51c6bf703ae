// PTX of a module in text, or the LLVM IR that it is made of, read off what the backend dumps.
#include "tools/cuda-plugin/cuda_plugin.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/cuda/cuda_backend.h"
#include "parser/parser.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"

namespace hlokit {
namespace {

absl::StatusOr<std::string> CodeOfText(absl::string_view text, absl::string_view stage,
                                       absl::string_view arch, int opt_level,
                                       const std::string& folder) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("module", std::string(text));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(source, {true}, diagnostics));
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  options.opt_level = opt_level;
  if (stage == "ptx") return PtxOfModule(std::move(module), arch, options);
  options.dump_to = folder;
  RETURN_IF_ERROR(PtxOfModule(std::move(module), arch, options).status());
  const bool is_early = stage == "llvm-before-optimizations";
  return ReadFile(absl::StrCat(folder, "/module.ir-", is_early ? "no" : "with", "-opt.ll"));
}

}  // namespace
}  // namespace hlokit

int hlokit_cuda_stage(const char* text, size_t size, const char* stage, const char* arch,
                      int opt_level, const char* folder,
                      void (*take)(void* sink, const char* bytes, size_t size), void* sink) {
  const auto made =
      hlokit::CodeOfText(absl::string_view(text, size), stage, arch, opt_level, folder);
  const std::string result = made.ok() ? *made : std::string(made.status().message());
  take(sink, result.data(), result.size());
  return hlokit::ExitStatusOf(made.status());
}
// SPDX-License-Identifier: Apache-2.0
