// PTX of a module in text.
#include "tools/cuda-plugin/cuda_plugin.h"

#include <memory>

#include "backends/cuda/cuda_backend.h"
#include "parser/parser.h"
#include "support/status.h"
#include "tools/common/exit_status.h"

namespace hlokit {
namespace {

absl::StatusOr<std::string> PtxOfText(absl::string_view text, absl::string_view arch,
                                      int opt_level) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("module", std::string(text));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(source, {true}, diagnostics));
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  options.opt_level = opt_level;
  return PtxOfModule(std::move(module), arch, options);
}

}  // namespace
}  // namespace hlokit

int hlokit_ptx_stage(const char* text, size_t size, const char* arch, int opt_level,
                     void (*take)(void* sink, const char* bytes, size_t size), void* sink) {
  const auto made = hlokit::PtxOfText(absl::string_view(text, size), arch, opt_level);
  const std::string result = made.ok() ? *made : std::string(made.status().message());
  take(sink, result.data(), result.size());
  return hlokit::ExitStatusOf(made.status());
}
// SPDX-License-Identifier: Apache-2.0
