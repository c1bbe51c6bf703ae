// Modules of the C API.
#include "client/c_api_modules.h"

#include <memory>
#include <string>

#include "client/c_api_internal.h"
#include "parser/parser.h"
#include "passes/manager.h"
#include "printer/printer.h"
#include "proto/proto_file.h"
#include "stablehlo/stablehlo.h"
#include "support/diagnostics.h"
#include "support/status.h"
#include "verifier/verifier.h"

struct hlokit_module {
  std::unique_ptr<hlokit::Module> module;
  std::shared_ptr<const hlokit::SourceFile> source;
};

namespace hlokit {
namespace {

// The error with places as lines and columns of the file, carets below.
absl::Status Located(const absl::Status& status, const SourceFile& source) {
  return status.ok() ? status : absl::Status(status.code(), RenderStatus(status, source));
}

absl::StatusOr<std::unique_ptr<Module>> ReadAny(const std::shared_ptr<const SourceFile>& source) {
  const absl::string_view bytes = source->text();
  if (IsMlir(bytes)) return ReadStablehlo(source);
  if (const auto encoding = SniffProto(bytes)) {
    ASSIGN_OR_RETURN(ModuleFile file, ReadModuleFile(bytes, *encoding));
    return std::move(file.module);
  }
  Diagnostics diagnostics;
  return ParseModule(source, ParseOptions(), diagnostics);
}

absl::Status VerifyAll(const hlokit_module& module) {
  Diagnostics found;
  const absl::Status status = Verify(*module.module, found);
  if (found.items().empty()) return Located(status, *module.source);
  return absl::InvalidArgumentError(found.Render(*module.source));
}

}  // namespace
}  // namespace hlokit

extern "C" {

hlokit_error* hlokit_module_read(const char* bytes, size_t size, const char* name,
                                 hlokit_module** module) {
  return hlokit::Guarded({{bytes != nullptr, "bytes"},
                          {name != nullptr, "name"},
                          {module != nullptr, "module"}},
                         [&]() -> hlokit_error* {
                           auto made = std::make_unique<hlokit_module>();
                           made->source = std::make_shared<hlokit::SourceFile>(
                               name, std::string(bytes, size));
                           auto read = hlokit::ReadAny(made->source);
                           if (!read.ok())
                             return hlokit::WrapError(
                                 hlokit::Located(read.status(), *made->source));
                           made->module = *std::move(read);
                           *module = made.release();
                           return nullptr;
                         });
}

void hlokit_module_free(hlokit_module* module) { delete module; }

hlokit_error* hlokit_module_clone(const hlokit_module* module, hlokit_module** copy) {
  return hlokit::Guarded({{module != nullptr, "module"}, {copy != nullptr, "copy"}},
                         [&]() -> hlokit_error* {
                           *copy = new hlokit_module{module->module->Clone(),
                                                     module->source};
                           return nullptr;
                         });
}

hlokit_error* hlokit_module_text(const hlokit_module* module, char** text) {
  return hlokit::Guarded(
      {{module != nullptr, "module"}, {text != nullptr, "text"}}, [&]() -> hlokit_error* {
        *text = hlokit::GiveBytes(hlokit::Print(*module->module), nullptr);
        return nullptr;
      });
}

hlokit_error* hlokit_module_verify(const hlokit_module* module) {
  return hlokit::Guarded({{module != nullptr, "module"}},
                         [&] { return hlokit::WrapError(hlokit::VerifyAll(*module)); });
}

hlokit_error* hlokit_module_run_passes(hlokit_module* module, const char* passes,
                                       int32_t* changed) {
  return hlokit::Guarded(
      {{module != nullptr, "module"}, {passes != nullptr, "passes"}, {changed != nullptr, "changed"}},
      [&]() -> hlokit_error* {
        hlokit::PassOptions options;
        options.verify_each = true;
        hlokit::PassReport report;
        const absl::Status status = hlokit::RunPasses(*module->module, passes, options, &report);
        *changed = 0;
        for (const hlokit::PassRun& run : report.runs) *changed |= run.changed ? 1 : 0;
        return hlokit::WrapError(hlokit::Located(status, *module->source));
      });
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
