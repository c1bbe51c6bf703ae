// Stages of the CPU backend, read off what it dumps.
#include "tools/cpu-plugin/cpu_plugin.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_program/cpu_program.h"
#include "parser/parser.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/cpu-plugin/buffer_text.h"

namespace hlokit {
namespace {

absl::StatusOr<std::string> DumpNameOf(absl::string_view stage) {
  if (stage == "llvm-before-optimizations") return std::string("part0.ir-no-opt.ll");
  if (stage == "llvm-after-optimizations" || stage == "llvm")
    return std::string("part0.ir-with-opt.ll");
  if (stage == "asm") return std::string("part0.s");
  if (stage == "obj") return std::string("part0.o");
  return Unimplemented("--stage=", stage, " is not available on the CPU yet");
}

absl::StatusOr<std::string> StepsText(const Module& module) {
  ASSIGN_OR_RETURN(const BufferAssignment buffers, BufferAssignment::Make(module));
  return ProgramText(MakeCpuProgram(module, buffers));
}

absl::StatusOr<std::string> RunStage(absl::string_view text, absl::string_view stage, int opt_level,
                                     const std::string& folder) {
  const bool buffers = stage == "buffer-assignment", program = stage == "program";
  std::string dump;
  if (!buffers && !program) {
    ASSIGN_OR_RETURN(dump, DumpNameOf(stage));
  }
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("module", std::string(text));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(source, {true}, diagnostics));
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  options.opt_level = opt_level;
  options.threads = 1;  // one piece of code
  if (buffers || program) {
    DynamicEntry dynamic;
    RETURN_IF_ERROR(LowerForCpu(*module, options, &dynamic));
    return buffers ? BufferText(*module) : StepsText(*module);
  }
  options.dump_to = folder;
  ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                   MakeCpuBackend()->Compile(std::move(module), options));
  return ReadFile(absl::StrCat(folder, "/", dump));
}

}  // namespace
}  // namespace hlokit

int hlokit_cpu_stage(const char* text, size_t size, const char* stage, int opt_level,
                     const char* folder, void (*take)(void* sink, const char* bytes, size_t size),
                     void* sink) {
  const auto made = hlokit::RunStage(absl::string_view(text, size), stage, opt_level, folder);
  const std::string result = made.ok() ? *made : std::string(made.status().message());
  take(sink, result.data(), result.size());
  return hlokit::ExitStatusOf(made.status());
}
// SPDX-License-Identifier: Apache-2.0
