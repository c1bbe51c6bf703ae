// Functions of the driver for clients that are not hlokit; most stand on those of driver.cc. All
// work is done when it is issued, so that forms with and without a stream are one.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ptxsim/driver/client_api.h"
#include "support/file.h"

namespace hlokit::cuda {
namespace {

// A context must be current, and not lost.
Result CheckContext() { return cuCtxSynchronize(); }

template <typename T>
Result Fill(DeviceAddress to, T value, size_t count) {
  const std::vector<T> values(count, value);
  return cuMemcpyHtoDAsync_v2(to, values.data(), count * sizeof(T), nullptr);
}

thread_local std::vector<Context> pushed;

}  // namespace

extern "C" {

Result cuModuleLoadData(Module* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
Result cuModuleLoad(Module* module, const char* path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? cuModuleLoadData(module, text->c_str()) : kNotFound;
}
Result cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // lazy
  return kSuccess;
}
Result cuFuncSetCacheConfig(Function, int) { return CheckContext(); }

Result cuDeviceGetUuid_v2(unsigned char* uuid, Device device) {
  std::memset(uuid, 0, 16);
  std::memcpy(uuid, &device, sizeof device);
  return kSuccess;
}
// Each device has memory of its own, which no other one reads.
Result cuDeviceCanAccessPeer(int* can, Device, Device) {
  *can = 0;
  return kSuccess;
}
Result cuDeviceGetPCIBusId(char* text, int bytes, Device device) {
  std::snprintf(text, static_cast<size_t>(std::max(bytes, 0)), "0000:%02x:00.0",
                static_cast<unsigned>(device + 1) & 0xff);
  return kSuccess;
}

Result cuCtxGetDevice(Device* device) {
  Context context = nullptr;
  if (const Result result = cuCtxGetCurrent(&context); result != kSuccess) return result;
  if (context == nullptr) return kInvalidContext;
  int count = 0;
  if (const Result result = cuDeviceGetCount(&count); result != kSuccess) return result;
  for (Device d = 0; d < count; ++d) {
    Context own = nullptr;
    if (cuDevicePrimaryCtxRetain(&own, d) == kSuccess && own == context) {
      *device = d;
      return kSuccess;
    }
  }
  return kInvalidContext;
}
// Limits of the stack, printf's buffer and the heap are not held.
Result cuCtxGetLimit(size_t* value, int) {
  *value = size_t{1} << 23;
  return CheckContext();
}
Result cuCtxSetLimit(int, size_t) { return CheckContext(); }
Result cuCtxPushCurrent_v2(Context context) {
  Context old = nullptr;
  if (const Result result = cuCtxGetCurrent(&old); result != kSuccess) return result;
  pushed.push_back(old);
  return cuCtxSetCurrent(context);
}
Result cuCtxPopCurrent_v2(Context* context) {
  if (pushed.empty()) return kInvalidContext;
  if (context != nullptr) {
    if (const Result result = cuCtxGetCurrent(context); result != kSuccess) return result;
  }
  const Context old = pushed.back();
  pushed.pop_back();
  return cuCtxSetCurrent(old);
}

Result cuMemAllocAsync(DeviceAddress* address, size_t bytes, Stream) {
  return cuMemAlloc_v2(address, bytes);
}
Result cuMemFreeAsync(DeviceAddress address, Stream) { return cuMemFree_v2(address); }
Result cuMemAllocHost_v2(void** memory, size_t bytes) {
  *memory = std::malloc(std::max<size_t>(bytes, 1));
  return *memory == nullptr ? kOutOfMemory : kSuccess;
}
Result cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  return cuMemAllocHost_v2(memory, bytes);
}
Result cuMemFreeHost(void* memory) {
  std::free(memory);
  return kSuccess;
}
Result cuMemcpyHtoD_v2(DeviceAddress to, const void* from, size_t bytes) {
  return cuMemcpyHtoDAsync_v2(to, from, bytes, nullptr);
}
Result cuMemcpyDtoH_v2(void* to, DeviceAddress from, size_t bytes) {
  return cuMemcpyDtoHAsync_v2(to, from, bytes, nullptr);
}
Result cuMemcpyDtoD_v2(DeviceAddress to, DeviceAddress from, size_t bytes) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, nullptr);
}
Result cuMemsetD8_v2(DeviceAddress to, unsigned char value, size_t count) {
  return Fill(to, value, count);
}
Result cuMemsetD16_v2(DeviceAddress to, unsigned short value, size_t count) {
  return Fill(to, value, count);
}
Result cuMemsetD32_v2(DeviceAddress to, unsigned value, size_t count) {
  return Fill(to, value, count);
}
Result cuMemsetD8Async(DeviceAddress to, unsigned char value, size_t count, Stream) {
  return Fill(to, value, count);
}
Result cuMemsetD16Async(DeviceAddress to, unsigned short value, size_t count, Stream) {
  return Fill(to, value, count);
}
Result cuMemsetD32Async(DeviceAddress to, unsigned value, size_t count, Stream) {
  return Fill(to, value, count);
}
// The device's address of a pointer, which is the pointer itself; an error for memory of the host.
Result cuPointerGetAttribute(void* value, int attribute, DeviceAddress address) {
  constexpr int kMemoryType = 2, kDevicePointer = 3;
  char byte = 0;
  if (cuMemcpyDtoHAsync_v2(&byte, address, 1, nullptr) != kSuccess) return kInvalidValue;
  if (attribute == kDevicePointer) {
    std::memcpy(value, &address, sizeof address);
  } else if (attribute == kMemoryType) {
    constexpr int kDeviceMemory = 2;
    std::memcpy(value, &kDeviceMemory, sizeof kDeviceMemory);
  } else {
    return kNotSupported;
  }
  return kSuccess;
}

Result cuStreamCreateWithPriority(Stream* stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
Result cuStreamQuery(Stream) { return CheckContext(); }
Result cuStreamWaitEvent(Stream, Event, unsigned) { return CheckContext(); }
Result cuStreamIsCapturing(Stream, int* status) {
  *status = 0;
  return CheckContext();
}
Result cuEventQuery(Event event) { return cuEventSynchronize(event); }

// By threads and shared memory of a multiprocessor of an H100.
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function, int block_size,
                                                   size_t shared_bytes) {
  int fixed = 0;
  if (const Result result = cuFuncGetAttribute(&fixed, kFunctionSharedBytes, function);
      result != kSuccess)
    return result;
  if (block_size <= 0 || block_size > 1024) return kInvalidValue;
  constexpr int64_t kThreads = 2048, kShared = 228 << 10, kReserved = 1024, kBlocks = 32;
  const int64_t shared = kReserved + fixed + static_cast<int64_t>(shared_bytes);
  const int64_t threads = (block_size + 31) / 32 * 32;
  *blocks = static_cast<int>(std::min({kBlocks, kThreads / threads, kShared / shared}));
  return kSuccess;
}
Result cuOccupancyMaxActiveClusters(int* clusters, Function, const LaunchConfig*) {
  *clusters = 16;  // of 8 blocks, on an H100
  return CheckContext();
}

Result cuLaunchKernelEx(const LaunchConfig* config, Function function, void** parameters,
                        void** extra) {
  if (config == nullptr) return kInvalidValue;
  unsigned cluster[3] = {1, 1, 1};
  for (unsigned k = 0; k < config->attribute_count; ++k)
    if (config->attributes[k].id == kAttributeClusterDimension)
      std::memcpy(cluster, config->attributes[k].value, sizeof cluster);
  return LaunchClusters(function, config->grid, config->block, cluster, config->shared_bytes,
                        parameters, extra);
}
// All blocks of a grid are resident, up to the simulator's limit.
Result cuLaunchCooperativeKernel(Function function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, Stream stream,
                                 void** parameters) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        stream, parameters, nullptr);
}

// Any function of this library, by the name without its version.
Result cuGetProcAddress_v2(const char* symbol, void** function, int, uint64_t, int* status) {
  constexpr int kFound = 0, kMissing = 1;
  *function = nullptr;
  for (const char* suffix : {"_v2", ""}) {
    *function = dlsym(RTLD_DEFAULT, absl::StrCat(symbol, suffix).c_str());
    if (*function != nullptr) break;
  }
  if (status != nullptr) *status = *function != nullptr ? kFound : kMissing;
  return *function != nullptr ? kSuccess : kNotFound;
}

}  // extern "C"

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
