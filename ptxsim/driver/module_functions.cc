// The simulated driver's modules, functions and launches: PTX is parsed when a module is loaded, a
// kernel decoded when it is asked for, and a launch runs it to its end in the calling thread.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ptxsim/decode.h"
#include "ptxsim/driver/client_api.h"
#include "ptxsim/driver/machine_internal.h"
#include "ptxsim/driver/module_image.h"
#include "ptxsim/launch.h"
#include "ptxsim/profile.h"
#include "support/status.h"

namespace hlokit::cuda {
namespace {

// Of a block of sm_90, with cuFuncSetAttribute.
constexpr int64_t kMaxSharedBytes = 227 << 10;

// Puts the log where the caller's options want it.
void WriteLog(const std::string& log, unsigned count, const int* options, void** values) {
  char* buffer = nullptr;
  size_t size = 0;
  for (unsigned k = 0; k < count; ++k) {
    if (options[k] == kJitErrorLogBuffer) buffer = static_cast<char*>(values[k]);
    if (options[k] == kJitErrorLogBufferBytes) size = reinterpret_cast<size_t>(values[k]);
  }
  if (buffer != nullptr && size > 0) std::snprintf(buffer, size, "%s", log.c_str());
}

// At most so many bytes of .global and .const variables.
int64_t ImageBytes(const ptx::Module& module) {
  int64_t bytes = 0;
  const auto add = [&](const std::vector<ptx::Variable>& variables) {
    for (const ptx::Variable& variable : variables)
      bytes += variable.ByteSize() + 2 * std::max(variable.align, 16);
  };
  add(module.variables);
  for (const auto& function : module.functions) add(function->variables);
  return (bytes + 255) / 256 * 256;
}

// The kernel's parameters as one block of memory.
std::vector<std::byte> ParameterBlock(const ptx::Program& program, void** parameters) {
  std::vector<std::byte> block(static_cast<size_t>(program.parameter_bytes));
  for (size_t k = 0; k < program.parameters.size(); ++k)
    std::memcpy(block.data() + program.parameters[k].offset, parameters[k],
                static_cast<size_t>(program.parameters[k].size));
  return block;
}

Result RunKernel(FunctionHandle& function, const ptx::LaunchOptions& options, void** parameters) {
  ContextHandle& context = *function.module->context;
  const std::lock_guard<std::mutex> lock(context.mutex);
  const ptx::Program& program = *function.program;
  if (absl::Status loaded = LoadVariables(program, context.memory, /*keep=*/true); !loaded.ok())
    return Fail(kOutOfMemory, std::string(loaded.message()));
  ptx::LaunchStats stats;
  const char* const counts_file = std::getenv("HLOKIT_CUDA_SIM_PROFILE");
  ptx::LaunchOptions profiled = options;
  profiled.profile = counts_file != nullptr;
  const absl::Status status =
      ptx::Launch(program, context.memory, ParameterBlock(program, parameters), profiled, stats);
  std::fputs(stats.output.c_str(), stdout);
  if (stats.counts != nullptr)
    if (const absl::Status written =
            ptx::AppendCounts(counts_file, program.functions[0]->function->name, *stats.counts);
        !written.ok())
      return Fail(kInvalidValue, std::string(written.message()));
  if (status.ok()) return kSuccess;
  if (absl::IsInvalidArgument(status)) return Fail(kInvalidValue, std::string(status.message()));
  context.fault = kLaunchFailed;
  return Fail(kLaunchFailed, RenderStatus(status, *function.module->source));
}

}  // namespace

extern "C" {

Result cuModuleLoadDataEx(Module* module, const void* image, unsigned count, int* options,
                          void** values) {
  RETURN_UNLESS(EnterContext());
  absl::StatusOr<std::string> text = PtxOfImage(image);
  if (!text.ok()) {
    WriteLog(std::string(text.status().message()), count, options, values);
    return Fail(kNoBinaryForGpu, std::string(text.status().message()));
  }
  auto source = std::make_shared<const SourceFile>("module.ptx", *std::move(text));
  Diagnostics diagnostics;
  std::unique_ptr<ptx::Module> parsed = ptx::ParseModule(source, diagnostics);
  if (parsed == nullptr) {
    WriteLog(diagnostics.Render(*source), count, options, values);
    return Fail(kInvalidPtx, diagnostics.Render(*source));
  }
  auto made = std::make_unique<ModuleHandle>();
  made->context = CurrentContext();
  made->source = std::move(source);
  made->module = std::move(parsed);
  const std::lock_guard<std::mutex> lock(CurrentContext()->mutex);
  made->image_base = CurrentContext()->image_bytes;
  CurrentContext()->image_bytes += ImageBytes(*made->module);
  *module = made.release();
  return kSuccess;
}

Result cuModuleUnload(Module module) {
  const Result entered = Enter();
  if (module == nullptr) return kInvalidHandle;
  const std::lock_guard<std::mutex> lock(module->context->mutex);
  for (const auto& [name, function] : module->functions)
    for (const ptx::Program::GlobalVariable& variable : function->program->globals)
      module->context->memory.Free(ptx::kImageWindow +
                                   static_cast<uint64_t>(module->image_base + variable.offset));
  delete module;
  return entered;
}

Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  RETURN_UNLESS(EnterContext());
  if (module == nullptr) return kInvalidHandle;
  std::unique_ptr<FunctionHandle>& made = module->functions[name];
  if (made == nullptr) {
    const ptx::Function* const kernel = module->module->FindFunction(name);
    if (kernel == nullptr || !kernel->is_entry) {
      module->functions.erase(name);
      return Fail(kNotFound, absl::StrCat("no kernel ", name));
    }
    Diagnostics diagnostics;
    std::unique_ptr<ptx::Program> program =
        ptx::DecodeKernel(module->module, *kernel, diagnostics, module->image_base);
    if (program == nullptr) {
      module->functions.erase(name);
      return Fail(kInvalidPtx, diagnostics.Render(*module->source));
    }
    made = std::make_unique<FunctionHandle>();
    made->module = module;
    made->program = std::move(program);
  }
  *function = made.get();
  return kSuccess;
}

Result cuModuleGetGlobal_v2(DeviceAddress* address, size_t* bytes, Module module,
                            const char* name) {
  RETURN_UNLESS(EnterContext());
  if (module == nullptr || name == nullptr) return kInvalidHandle;
  const std::vector<std::string> kernels = module->module->EntryNames();
  Function kernel = nullptr;
  if (kernels.empty()) return Fail(kNotFound, "the module has no kernel");
  RETURN_UNLESS(cuModuleGetFunction(&kernel, module, kernels[0].c_str()));
  const std::lock_guard<std::mutex> lock(module->context->mutex);
  const ptx::Program& program = *kernel->program;
  if (!LoadVariables(program, module->context->memory, /*keep=*/true).ok()) return kOutOfMemory;
  for (const ptx::Program::GlobalVariable& variable : program.globals) {
    if (variable.name != name) continue;
    if (bytes != nullptr) *bytes = static_cast<size_t>(variable.size);
    if (address != nullptr)
      *address = ptx::kImageWindow + static_cast<uint64_t>(module->image_base + variable.offset);
    return kSuccess;
  }
  return Fail(kNotFound, absl::StrCat("no variable ", name));
}

Result cuFuncGetModule(Module* module, Function function) {
  RETURN_UNLESS(EnterContext());
  if (function == nullptr) return kInvalidHandle;
  *module = function->module;
  return kSuccess;
}

Result cuFuncGetAttribute(int* value, int attribute, Function function) {
  RETURN_UNLESS(EnterContext());
  if (function == nullptr) return kInvalidHandle;
  const ptx::Program& program = *function->program;
  const ptx::Function& kernel = *program.functions[0]->function;
  switch (attribute) {
    case kFunctionMaxThreads:
      *value = kernel.max_threads[0] > 0
                   ? kernel.max_threads[0] * kernel.max_threads[1] * kernel.max_threads[2]
                   : 1024;
      return kSuccess;
    case kFunctionSharedBytes:
      *value = static_cast<int>(program.shared_bytes);
      return kSuccess;
    case kFunctionLocalBytes:
      *value = static_cast<int>(program.functions[0]->local_bytes);
      return kSuccess;
    case kFunctionRegisters:
      *value = 32;  // what ptxas would take is not known
      return kSuccess;
    case kMaxDynamicSharedBytes:
      *value = static_cast<int>(function->max_dynamic_shared);
      return kSuccess;
    default:
      *value = 0;
      return kSuccess;
  }
}

Result cuFuncSetAttribute(Function function, int attribute, int value) {
  RETURN_UNLESS(EnterContext());
  if (function == nullptr) return kInvalidHandle;
  if (attribute != kMaxDynamicSharedBytes)
    return Fail(kNotSupported, absl::StrCat("attribute ", attribute, " of a function"));
  if (value < 0 || value + function->program->shared_bytes > kMaxSharedBytes)
    return Fail(kInvalidValue, absl::StrCat(value, " bytes of dynamic shared memory: a block has ",
                                            kMaxSharedBytes));
  function->max_dynamic_shared = value;
  return kSuccess;
}

Result cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                      Stream, void** parameters, void** extra) {
  const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
  constexpr unsigned kCluster[3] = {1, 1, 1};
  return LaunchClusters(function, grid, block, kCluster, shared_bytes, parameters, extra);
}

}  // extern "C"

Result LaunchClusters(Function function, const unsigned grid[3], const unsigned block[3],
                      const unsigned cluster[3], unsigned shared_bytes, void** parameters,
                      void** extra) {
  RETURN_UNLESS(EnterContext());
  if (function == nullptr) return kInvalidHandle;
  if (extra != nullptr) return Fail(kNotSupported, "arguments of a launch in `extra`");
  if (parameters == nullptr && !function->program->parameters.empty()) return kInvalidValue;
  if (shared_bytes > function->max_dynamic_shared)
    return Fail(
        kInvalidValue,
        absl::StrCat(shared_bytes, " bytes of dynamic shared memory: the function has at most ",
                     function->max_dynamic_shared));
  ptx::LaunchOptions options;
  std::copy_n(grid, 3, options.grid);
  std::copy_n(block, 3, options.block);
  std::copy_n(cluster, 3, options.cluster);
  options.dynamic_shared = shared_bytes;
  options.threads = Machine::Get().threads();
  options.checks.unwritten = Machine::Get().checks();
  return RunKernel(*function, options, parameters);
}

std::vector<std::byte> StoredParameters(Function function, void** parameters) {
  return ParameterBlock(*function->program, parameters);
}

Result LaunchStored(Function function, const unsigned grid[3], const unsigned block[3],
                    unsigned shared_bytes, std::vector<std::byte>& parameters) {
  constexpr unsigned kCluster[3] = {1, 1, 1};
  std::vector<void*> pointers;
  for (const auto& parameter : function->program->parameters)
    pointers.push_back(parameters.data() + parameter.offset);
  return LaunchClusters(function, grid, block, kCluster, shared_bytes, pointers.data(), nullptr);
}

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
