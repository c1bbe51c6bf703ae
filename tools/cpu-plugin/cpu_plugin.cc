// Stages of the CPU backend, read off what it dumps.
#include "tools/cpu-plugin/cpu_plugin.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "analysis/buffer_assignment.h"
#include "backends/cpu/cpu_backend.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "support/status.h"
#include "tools/common/exit_status.h"

namespace hlokit {
namespace {

const char* KindText(Slice::Kind kind) {
  constexpr const char* kTexts[] = {"none", "arena", "parameter", "constant", "output"};
  return kTexts[static_cast<int>(kind)];
}

// A line an array: where it lies, and the instruction that makes it.
absl::StatusOr<std::string> BufferText(const Module& module) {
  ASSIGN_OR_RETURN(const BufferAssignment buffers, BufferAssignment::Make(module));
  std::string text =
      absl::StrCat("arena: ", buffers.arena_size(),
                   " bytes; the most that lives at once: ", buffers.live_peak(), " bytes\n");
  for (const Computation* computation : PrintingOrder(module)) {
    for (const Instruction* i : computation->ScheduleOrPostOrder()) {
      const auto slices = buffers.slices(i);
      for (size_t leaf = 0; leaf < slices.size(); ++leaf) {
        const Slice& slice = slices[leaf];
        absl::StrAppend(&text, "%", computation->name(), "\t%", i->name(), "\t", leaf, "\t",
                        KindText(slice.kind), " ", slice.index, "\toffset ", slice.offset,
                        "\tsize ", slice.size, "\n");
      }
    }
  }
  return text;
}

absl::StatusOr<std::string> DumpNameOf(absl::string_view stage) {
  if (stage == "llvm-before-optimizations") return std::string("part0.ir-no-opt.ll");
  if (stage == "llvm-after-optimizations" || stage == "llvm")
    return std::string("part0.ir-with-opt.ll");
  if (stage == "obj") return std::string("part0.o");
  return Unimplemented("--stage=", stage, " is not available on the CPU yet");
}

absl::StatusOr<std::string> RunStage(absl::string_view text, absl::string_view stage,
                                     int opt_level) {
  const bool buffers = stage == "buffer-assignment";
  std::string dump;
  if (!buffers) {
    ASSIGN_OR_RETURN(dump, DumpNameOf(stage));
  }
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("module", std::string(text));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(source, {true}, diagnostics));
  const ScratchFolder scratch;
  if (scratch.path().empty()) return InvalidArgument("cannot make a temporary folder");
  CompileOptions options;
  options.which_passes = CompileOptions::Passes::kNone;
  options.opt_level = opt_level;
  options.threads = 1;  // one piece of code
  if (!buffers) options.dump_to = scratch.path();
  ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                   MakeCpuBackend()->Compile(std::move(module), options));
  if (buffers) return BufferText(executable->module());
  return ReadFile(absl::StrCat(scratch.path(), "/", dump));
}

}  // namespace
}  // namespace hlokit

int hlokit_cpu_stage(const char* text, size_t size, const char* stage, int opt_level,
                     void (*take)(void* sink, const char* bytes, size_t size), void* sink) {
  const auto made = hlokit::RunStage(absl::string_view(text, size), stage, opt_level);
  const std::string result = made.ok() ? *made : std::string(made.status().message());
  take(sink, result.data(), result.size());
  return hlokit::ExitStatusOf(made.status());
}
// SPDX-License-Identifier: Apache-2.0
