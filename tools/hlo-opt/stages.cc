// The table of stages. Stages that compile are computed by plugins, loaded when asked for, so that
// hlo-opt itself does not link LLVM and starts fast.
#include "tools/hlo-opt/stages.h"

#include <dlfcn.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "printer/printer.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/exit_status.h"
#include "tools/cpu-plugin/cpu_plugin.h"
#include "tools/cuda-plugin/cuda_plugin.h"
#include "tools/hlo-viz/explorer/memory_data.h"
#include "tools/hlo-viz/explorer/page.h"
#include "tools/hlo-viz/explorer/page_data.h"

namespace hlokit {
namespace {

constexpr char kCpuPlugin[] = "libhlokit_cpu_plugin.so";
constexpr char kCudaPlugin[] = "libhlokit_cuda_plugin.so";

enum class Maker { kHloOpt, kExplorer, kCpu, kCuda, kBoth };  // kBoth: by --platform
struct Stage {
  absl::string_view name, meaning;
  Maker maker;
};
constexpr Stage kStages[] = {
    {"hlo", "the module after --pipeline and --passes, as HLO text", Maker::kHloOpt},
    {"hlo-backend", "the module after the platform's own pipeline too, as HLO text",
     Maker::kHloOpt},
    {"buffer-assignment", "where each array lies in memory", Maker::kCpu},
    {"program", "what runs, step by step, and on which buffers", Maker::kCpu},
    {"llvm-before-optimizations", "LLVM IR as emitted", Maker::kBoth},
    {"llvm-after-optimizations", "LLVM IR after LLVM's passes", Maker::kBoth},
    {"llvm", "the same as llvm-after-optimizations", Maker::kBoth},
    {"obj", "an object file", Maker::kCpu},
    {"asm", "assembly of the host", Maker::kCpu},
    {"ptx", "PTX of a GPU (--gpu-arch)", Maker::kCuda},
    {"html", "a page to explore the module after --pipeline and --passes in", Maker::kExplorer},
};

const Stage* FindStage(absl::string_view name) {
  for (const Stage& stage : kStages)
    if (stage.name == name) return &stage;
  return nullptr;
}

// A plugin's one function. It stays loaded.
template <typename Function>
absl::StatusOr<Function> LoadPlugin(const char* plugin, const char* name) {
  const std::string folder = FolderOfProgram();
  std::string first_error;
  for (const std::string& path : {absl::StrCat(folder, "/../lib/", plugin),
                                  absl::StrCat(folder, "/", plugin), std::string(plugin)}) {
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      if (void* const function = dlsym(library, name)) return reinterpret_cast<Function>(function);
    }
    if (first_error.empty()) first_error = dlerror();
  }
  return Unimplemented("stages past hlo-backend need ", plugin, ": ", first_error);
}

void Append(void* sink, const char* bytes, size_t size) {
  static_cast<std::string*>(sink)->append(bytes, size);
}

absl::StatusOr<std::string> Page(const Module& module, const OptOptions& options) {
  const ModuleIndex index(module);
  ASSIGN_OR_RETURN(
      const PackedVersion version,
      Pack(options.input, {}, PageData(index, ScopeTree(index), {}), MemoryData(index, {})));
  PageBuilder page;
  page.AddModule(module.name());
  page.AddVersion(version);
  page.AddPlainText(Print(module));
  return page.Html(module.name());
}

}  // namespace

std::string StageList() {
  std::string out;
  for (const Stage& stage : kStages) absl::StrAppend(&out, stage.name, "\t", stage.meaning, "\n");
  return out;
}

bool IsHloStage(const std::string& stage) {
  const Stage* const found = FindStage(stage);
  return found != nullptr && found->maker == Maker::kHloOpt;
}

absl::Status CheckStage(const OptOptions& options) {
  const Stage* const found = FindStage(options.stage);
  if (found == nullptr) {
    std::vector<absl::string_view> names;
    for (const Stage& stage : kStages) names.push_back(stage.name);
    return InvalidArgument("no stage ", options.stage, DidYouMean(options.stage, names),
                           "; --list-stages names them");
  }
  const bool is_cpu = options.platform == "cpu", is_gpu = options.platform == "gpu";
  if (found->maker == Maker::kHloOpt || found->maker == Maker::kExplorer ||
      (found->maker == Maker::kCpu && is_cpu) ||
      ((found->maker == Maker::kCuda || found->maker == Maker::kBoth) && (is_cpu || is_gpu)) ||
      // Arrays of GPUs are planned as those of the CPU are.
      (options.stage == "buffer-assignment" && is_gpu))
    return absl::OkStatus();
  const bool has_ptx = is_gpu && options.stage != "asm" && options.stage != "obj";
  return Unimplemented("--stage=", options.stage,
                       " is not available for --platform=", options.platform, " yet",
                       has_ptx ? "; --stage=ptx is" : "");
}

absl::StatusOr<std::string> RunStage(const Module& module, const OptOptions& options) {
  const Maker maker = FindStage(options.stage)->maker;
  if (maker == Maker::kExplorer) return Page(module, options);
  const std::string text = WholeText(module);
  std::optional<ScratchFolder> folder;  // which PTX does not need
  if (maker != Maker::kCuda && folder.emplace().path().empty())
    return InvalidArgument("cannot make a temporary folder");
  const std::string scratch = folder.has_value() ? folder->path() : "";
  std::string out;
  int status = kExitDone;
  if (maker == Maker::kCuda || (maker == Maker::kBoth && options.platform == "gpu")) {
    ASSIGN_OR_RETURN(const auto stage,
                     LoadPlugin<decltype(&hlokit_cuda_stage)>(kCudaPlugin, "hlokit_cuda_stage"));
    status = stage(text.data(), text.size(), options.stage.c_str(), options.gpu_arch.c_str(),
                   options.opt_level, scratch.c_str(), Append, &out);
  } else {
    ASSIGN_OR_RETURN(const auto stage,
                     LoadPlugin<decltype(&hlokit_cpu_stage)>(kCpuPlugin, "hlokit_cpu_stage"));
    status = stage(text.data(), text.size(), options.stage.c_str(), options.opt_level,
                   scratch.c_str(), Append, &out);
  }
  if (status == kExitDone) return out;
  return status == kExitInternal ? absl::InternalError(out) : absl::InvalidArgumentError(out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
