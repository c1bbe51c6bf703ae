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
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "cuda_api/cuda_api.h"
#include "ptxsim/driver/client_api.h"
#include "ptxsim/driver/device_attributes.h"
#include "ptxsim/driver/machine_internal.h"
#include "ptxsim/driver/sim_extensions.h"

namespace hlokit::cuda {
namespace {

bool IsDevice(Device device) { return device >= 0 && device < Machine::Get().device_count(); }

// The bytes behind a device's address; null where they are not inside one allocation.
std::byte* HostBytes(DeviceAddress address, size_t bytes) {
  return CurrentContext()->memory.Host(address, static_cast<int64_t>(bytes));
}

std::string RangeText(DeviceAddress address, size_t bytes) {
  return absl::StrCat(bytes, " bytes at 0x", absl::Hex(address),
                      " do not lie in one allocation of device ", CurrentContext()->device);
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

}  // namespace

extern "C" {

const char* hlokitSimLastError() { return LastError().c_str(); }
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
  CurrentContext() = context;
  return kSuccess;
}

Result cuCtxGetCurrent(Context* context) {
  RETURN_UNLESS(Enter());
  *context = CurrentContext();
  return kSuccess;
}

Result cuCtxSynchronize() { return EnterContext(); }

Result cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  RETURN_UNLESS(EnterContext());
  const std::lock_guard<std::mutex> lock(CurrentContext()->mutex);
  *total_bytes = Machine::Get().memory_bytes();
  *free_bytes = *total_bytes - CurrentContext()->allocated;
  return kSuccess;
}

Result cuMemAlloc_v2(DeviceAddress* address, size_t bytes) {
  RETURN_UNLESS(EnterContext());
  if (bytes == 0) return kInvalidValue;
  Machine& machine = Machine::Get();
  const std::lock_guard<std::mutex> lock(CurrentContext()->mutex);
  if (bytes > machine.memory_bytes() - CurrentContext()->allocated) return kOutOfMemory;
  const absl::StatusOr<uint64_t> made = CurrentContext()->memory.Allocate(
      static_cast<int64_t>(bytes), "device memory", /*is_written=*/!machine.checks());
  if (!made.ok()) return Fail(kOutOfMemory, std::string(made.status().message()));
  CurrentContext()->allocations[*made] = bytes;
  CurrentContext()->allocated += bytes;
  *address = *made;
  return kSuccess;
}

// Frees even where the call is made to fail: the caller has no second chance.
Result cuMemFree_v2(DeviceAddress address) {
  const Result entered = Enter();
  if (CurrentContext() == nullptr) return kInvalidContext;
  const std::lock_guard<std::mutex> lock(CurrentContext()->mutex);
  const auto found = CurrentContext()->allocations.find(address);
  if (found == CurrentContext()->allocations.end()) return kInvalidValue;
  CurrentContext()->memory.Free(address);
  CurrentContext()->allocated -= found->second;
  CurrentContext()->allocations.erase(found);
  return entered;
}

Result cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, size_t bytes, Stream) {
  RETURN_UNLESS(EnterContext());
  if (bytes == 0) return kSuccess;
  std::byte* const memory = HostBytes(to, bytes);
  if (memory == nullptr) return Fail(kInvalidValue, RangeText(to, bytes));
  std::memcpy(memory, from, bytes);
  CurrentContext()->memory.MarkWritten(to, static_cast<int64_t>(bytes));
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
  CurrentContext()->memory.MarkWritten(to, static_cast<int64_t>(bytes));
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

}  // extern "C"

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
