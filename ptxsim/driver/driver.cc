// libhlokit_cuda_sim.so: the CUDA driver's functions over the simulator. A program that loads
// libcuda.so.1 may load this library in its place.
//
// Every device has one context (its primary one) and memory of its own. Work is done when it is
// issued, in the calling thread, so streams and events only keep order and time. Addresses are
// valid on the device that allocated them. After a kernel's fault a context gives the same error
// for all further work, as a GPU's does.
//
// Environment: HLOKIT_CUDA_SIM_DEVICES (number, 64), HLOKIT_CUDA_SIM_ARCH (sm_90a),
// HLOKIT_CUDA_SIM_MEMORY (bytes of a device; the machine's), HLOKIT_CUDA_SIM_THREADS (of the host;
// one a core), HLOKIT_CUDA_SIM_CHECK=1 (kernels that read bytes which nothing wrote are stopped),
// HLOKIT_CUDA_SIM_FAIL=N or N:CODE (the N-th call fails: tests of error paths).
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "cuda_api/cuda_api.h"
#include "ptxsim/decode.h"
#include "ptxsim/driver/client_api.h"
#include "ptxsim/driver/device_attributes.h"
#include "ptxsim/driver/module_image.h"
#include "ptxsim/driver/sim_extensions.h"
#include "ptxsim/launch.h"
#include "ptxsim/memory.h"
#include "ptxsim/parser.h"
#include "ptxsim/profile.h"
#include "support/status.h"

namespace hlokit::cuda {

struct ContextHandle {
  Device device = 0;
  std::mutex mutex;
  ptx::Memory memory;
  std::map<DeviceAddress, size_t> allocations;
  size_t allocated = 0;
  int64_t image_bytes = 0;  // of the variables of all modules
  Result fault = kSuccess;  // of an earlier kernel: the context is lost
};

struct ModuleHandle {
  ContextHandle* context = nullptr;
  std::shared_ptr<const SourceFile> source;
  std::shared_ptr<const ptx::Module> module;
  int64_t image_base = 0;  // of its variables
  std::map<std::string, std::unique_ptr<FunctionHandle>> functions;
};

struct FunctionHandle {
  ModuleHandle* module = nullptr;
  std::unique_ptr<ptx::Program> program;
  int64_t max_dynamic_shared = 48 << 10;  // bytes, until the attribute raises it
};

struct StreamHandle {};

struct EventHandle {
  std::chrono::steady_clock::time_point time;
};

namespace {

// Of a block of sm_90, with cuFuncSetAttribute.
constexpr int64_t kMaxSharedBytes = 227 << 10;

int64_t NumberOf(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  int64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) && number > 0 ? number : otherwise;
}

// What one process simulates.
class Machine {
 public:
  static Machine& Get() {
    static Machine* const machine = new Machine();
    return *machine;
  }

  int device_count() const { return device_count_; }
  size_t memory_bytes() const { return memory_bytes_; }
  // sm_90a: 90.
  int arch() const { return arch_; }
  int threads() const { return threads_; }
  void set_threads(int threads) { threads_ = threads; }
  bool checks() const { return checks_; }
  bool initialized = false;

  ContextHandle* ContextOf(Device device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<ContextHandle>& context = contexts_[device];
    if (context == nullptr) {
      context = std::make_unique<ContextHandle>();
      context->device = device;
    }
    return context.get();
  }

  // Whether this call is the one that HLOKIT_CUDA_SIM_FAIL wants to fail.
  bool FailsNow() {
    if (fail_at_ == 0) return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    return ++calls_ == fail_at_;
  }
  Result fail_code() const { return fail_code_; }

 private:
  Machine() {
    device_count_ = static_cast<int>(NumberOf("HLOKIT_CUDA_SIM_DEVICES", 64));
    const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    memory_bytes_ = static_cast<size_t>(NumberOf("HLOKIT_CUDA_SIM_MEMORY", machine));
    const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
    threads_ = static_cast<int>(NumberOf("HLOKIT_CUDA_SIM_THREADS", cores));
    checks_ = NumberOf("HLOKIT_CUDA_SIM_CHECK", 0) > 0;
    if (const char* arch = std::getenv("HLOKIT_CUDA_SIM_ARCH");
        arch != nullptr && std::strncmp(arch, "sm_", 3) == 0 && std::atoi(arch + 3) > 0)
      arch_ = std::atoi(arch + 3);
    if (const char* fail = std::getenv("HLOKIT_CUDA_SIM_FAIL"); fail != nullptr) {
      fail_at_ = std::atoll(fail);
      if (const char* code = std::strchr(fail, ':')) fail_code_ = std::atoi(code + 1);
    }
  }

  int device_count_ = 0, arch_ = 90, threads_ = 1;
  size_t memory_bytes_ = 0;
  bool checks_ = false;
  int64_t fail_at_ = 0, calls_ = 0;
  Result fail_code_ = kUnknown;
  std::mutex mutex_;
  std::map<Device, std::unique_ptr<ContextHandle>> contexts_;
};

thread_local ContextHandle* current = nullptr;
thread_local std::string last_error;

Result Fail(Result code, std::string what) {
  last_error = std::move(what);
  return code;
}

// At the start of each function: what the environment wants to fail, and calls before cuInit.
Result Enter(bool needs_init = true) {
  Machine& machine = Machine::Get();
  last_error.clear();
  if (machine.FailsNow()) return Fail(machine.fail_code(), "failed as HLOKIT_CUDA_SIM_FAIL asks");
  return needs_init && !machine.initialized ? kNotInitialized : kSuccess;
}

// The same for functions of the current context.
Result EnterContext() {
  if (const Result entered = Enter(); entered != kSuccess) return entered;
  if (current == nullptr) return kInvalidContext;
  return current->fault;
}

#define RETURN_UNLESS(entered) \
  if (const Result result_ = (entered); result_ != kSuccess) return result_

bool IsDevice(Device device) { return device >= 0 && device < Machine::Get().device_count(); }

// The bytes behind a device's address; null where they are not inside one allocation.
std::byte* HostBytes(DeviceAddress address, size_t bytes) {
  return current->memory.Host(address, static_cast<int64_t>(bytes));
}

std::string RangeText(DeviceAddress address, size_t bytes) {
  return absl::StrCat(bytes, " bytes at 0x", absl::Hex(address),
                      " do not lie in one allocation of device ", current->device);
}

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

struct ErrorRow {
  Result code;
  const char *name, *text;
};
constexpr ErrorRow kErrors[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorRow* RowOf(Result code) {
  for (const ErrorRow& row : kErrors)
    if (row.code == code) return &row;
  return nullptr;
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

const char* hlokitSimLastError() { return last_error.c_str(); }
void hlokitSimSetThreads(int threads) {
  if (threads > 0) Machine::Get().set_threads(threads);
}

Result cuInit(unsigned flags) {
  RETURN_UNLESS(Enter(/*needs_init=*/false));
  if (flags != 0) return kInvalidValue;
  Machine::Get().initialized = true;
  return kSuccess;
}

Result cuDriverGetVersion(int* version) {
  RETURN_UNLESS(Enter(/*needs_init=*/false));
  if (version == nullptr) return kInvalidValue;
  *version = 12080;
  return kSuccess;
}

Result cuGetErrorName(Result error, const char** text) {
  const ErrorRow* const row = RowOf(error);
  *text = row != nullptr ? row->name : nullptr;
  return row != nullptr ? kSuccess : kInvalidValue;
}

Result cuGetErrorString(Result error, const char** text) {
  const ErrorRow* const row = RowOf(error);
  *text = row != nullptr ? row->text : nullptr;
  return row != nullptr ? kSuccess : kInvalidValue;
}

Result cuDeviceGetCount(int* count) {
  RETURN_UNLESS(Enter());
  *count = Machine::Get().device_count();
  return kSuccess;
}

Result cuDeviceGet(Device* device, int ordinal) {
  RETURN_UNLESS(Enter());
  if (!IsDevice(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Result cuDeviceGetName(char* name, int bytes, Device device) {
  RETURN_UNLESS(Enter());
  if (!IsDevice(device)) return kInvalidDevice;
  if (bytes <= 0) return kInvalidValue;
  std::snprintf(name, static_cast<size_t>(bytes), "hlokit simulated GPU, sm_%d",
                Machine::Get().arch());
  return kSuccess;
}

Result cuDeviceTotalMem_v2(size_t* bytes, Device device) {
  RETURN_UNLESS(Enter());
  if (!IsDevice(device)) return kInvalidDevice;
  *bytes = Machine::Get().memory_bytes();
  return kSuccess;
}

Result cuDeviceGetAttribute(int* value, int attribute, Device device) {
  RETURN_UNLESS(Enter());
  if (!IsDevice(device)) return kInvalidDevice;
  if (attribute == kComputeCapabilityMajor || attribute == kComputeCapabilityMinor) {
    const int arch = Machine::Get().arch();
    *value = attribute == kComputeCapabilityMajor ? arch / 10 : arch % 10;
    return kSuccess;
  }
  const std::optional<int> found = AttributeOfH100(attribute);
  if (!found.has_value()) return kInvalidValue;
  *value = *found;
  return kSuccess;
}

Result cuDevicePrimaryCtxRetain(Context* context, Device device) {
  RETURN_UNLESS(Enter());
  if (!IsDevice(device)) return kInvalidDevice;
  *context = Machine::Get().ContextOf(device);
  return kSuccess;
}

// The context stays: another may hold it, and it is cheap.
Result cuDevicePrimaryCtxRelease_v2(Device device) {
  RETURN_UNLESS(Enter());
  return IsDevice(device) ? kSuccess : kInvalidDevice;
}

Result cuCtxSetCurrent(Context context) {
  RETURN_UNLESS(Enter());
  current = context;
  return kSuccess;
}

Result cuCtxGetCurrent(Context* context) {
  RETURN_UNLESS(Enter());
  *context = current;
  return kSuccess;
}

Result cuCtxSynchronize() { return EnterContext(); }

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
  made->context = current;
  made->source = std::move(source);
  made->module = std::move(parsed);
  const std::lock_guard<std::mutex> lock(current->mutex);
  made->image_base = current->image_bytes;
  current->image_bytes += ImageBytes(*made->module);
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

Result cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  RETURN_UNLESS(EnterContext());
  const std::lock_guard<std::mutex> lock(current->mutex);
  *total_bytes = Machine::Get().memory_bytes();
  *free_bytes = *total_bytes - current->allocated;
  return kSuccess;
}

Result cuMemAlloc_v2(DeviceAddress* address, size_t bytes) {
  RETURN_UNLESS(EnterContext());
  if (bytes == 0) return kInvalidValue;
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(current->mutex);
  if (bytes > machine.memory_bytes() - current->allocated) return kOutOfMemory;
  const absl::StatusOr<uint64_t> made = current->memory.Allocate(
      static_cast<int64_t>(bytes), "device memory", /*is_written=*/!machine.checks());
  if (!made.ok()) return Fail(kOutOfMemory, std::string(made.status().message()));
  current->allocations[*made] = bytes;
  current->allocated += bytes;
  *address = *made;
  return kSuccess;
}

// Frees even where the call is made to fail: the caller has no second chance.
Result cuMemFree_v2(DeviceAddress address) {
  const Result entered = Enter();
  if (current == nullptr) return kInvalidContext;
  const std::lock_guard<std::mutex> lock(current->mutex);
  const auto found = current->allocations.find(address);
  if (found == current->allocations.end()) return kInvalidValue;
  current->memory.Free(address);
  current->allocated -= found->second;
  current->allocations.erase(found);
  return entered;
}

Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, size_t bytes, Stream) {
  RETURN_UNLESS(EnterContext());
  if (bytes == 0) return kSuccess;
  std::byte* const memory = HostBytes(to, bytes);
  if (memory == nullptr) return Fail(kInvalidValue, RangeText(to, bytes));
  std::memcpy(memory, from, bytes);
  current->memory.MarkWritten(to, static_cast<int64_t>(bytes));
  return kSuccess;
}

Result cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, size_t bytes, Stream) {
  RETURN_UNLESS(EnterContext());
  if (bytes == 0) return kSuccess;
  const std::byte* const memory = HostBytes(from, bytes);
  if (memory == nullptr) return Fail(kInvalidValue, RangeText(from, bytes));
  std::memcpy(to, memory, bytes);
  return kSuccess;
}

Result cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, size_t bytes, Stream) {
  RETURN_UNLESS(EnterContext());
  if (bytes == 0) return kSuccess;
  std::byte* const target = HostBytes(to, bytes);
  const std::byte* const source = HostBytes(from, bytes);
  if (target == nullptr) return Fail(kInvalidValue, RangeText(to, bytes));
  if (source == nullptr) return Fail(kInvalidValue, RangeText(from, bytes));
  std::memmove(target, source, bytes);
  current->memory.MarkWritten(to, static_cast<int64_t>(bytes));
  return kSuccess;
}

Result cuStreamCreate(Stream* stream, unsigned) {
  RETURN_UNLESS(EnterContext());
  *stream = new StreamHandle();
  return kSuccess;
}

Result cuStreamDestroy_v2(Stream stream) {
  const Result entered = Enter();
  delete stream;
  return entered;
}

Result cuStreamSynchronize(Stream) { return EnterContext(); }

Result cuEventCreate(Event* event, unsigned) {
  RETURN_UNLESS(EnterContext());
  *event = new EventHandle();
  return kSuccess;
}

Result cuEventDestroy_v2(Event event) {
  const Result entered = Enter();
  delete event;
  return entered;
}

Result cuEventRecord(Event event, Stream) {
  RETURN_UNLESS(EnterContext());
  if (event == nullptr) return kInvalidHandle;
  event->time = std::chrono::steady_clock::now();
  return kSuccess;
}

Result cuEventSynchronize(Event event) {
  RETURN_UNLESS(EnterContext());
  return event == nullptr ? kInvalidHandle : kSuccess;
}

Result cuEventElapsedTime(float* milliseconds, Event start, Event end) {
  RETURN_UNLESS(EnterContext());
  if (start == nullptr || end == nullptr) return kInvalidHandle;
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
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
