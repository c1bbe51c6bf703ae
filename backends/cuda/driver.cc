// dlopen and dlsym: a library that is not there is a refusal, never a fault at start. The libraries
// stay loaded, since contexts live as long as the process.
#include "backends/cuda/driver.h"

#include <dlfcn.h>

#include <mutex>
#include <utility>

#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kSimulatorLibrary[] = "libhlokit_cuda_sim.so";

void* OpenSimulator() {
  const std::string folder = FolderOfProgram();
  for (const std::string& path :
       {absl::StrCat(folder, "/../lib/", kSimulatorLibrary),
        absl::StrCat(folder, "/", kSimulatorLibrary), std::string(kSimulatorLibrary)})
    if (void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

absl::Status CudaDriver::Open(Library which) {
  const bool simulated = which == Library::kSimulator;
  const char* const file = simulated ? kSimulatorLibrary : "libcuda.so.1";
  void* const library = simulated ? OpenSimulator() : dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Unimplemented("no CUDA driver: ", dlerror(),
                         simulated ? "" : "; --platform=ptx-sim needs none");
#define HLOKIT_CUDA_FUNCTION(function, parameters) \
  Find(library, #function, function);              \
  if (function == nullptr) return Unimplemented(file, " has no function " #function);
#include "cuda_api/functions.def"
#undef HLOKIT_CUDA_FUNCTION
  has_graphs_ = true;
#define HLOKIT_CUDA_FUNCTION(function, parameters) \
  Find(library, #function, function);              \
  has_graphs_ = has_graphs_ && function != nullptr;
#include "cuda_api/graph_functions.def"
#undef HLOKIT_CUDA_FUNCTION
  if (simulated) {
    Find(library, "hlokitSimLastError", last_error_);
    Find(library, "hlokitSimSetThreads", set_host_threads_);
  }
  RETURN_IF_ERROR(Check(cuInit(0), "cuInit"));
  RETURN_IF_ERROR(Check(cuDeviceGetCount(&device_count_), "cuDeviceGetCount"));
  if (device_count_ == 0) return Unimplemented("the CUDA driver finds no device");
  return absl::OkStatus();
}

absl::StatusOr<const CudaDriver*> CudaDriver::Load(Library library) {
  struct Loaded {
    std::once_flag once;
    CudaDriver driver;
    absl::Status status;
  };
  static Loaded* const loaded = new Loaded[2];
  Loaded& one = loaded[library == Library::kSimulator ? 1 : 0];
  std::call_once(one.once, [&] { one.status = one.driver.Open(library); });
  RETURN_IF_ERROR(one.status);
  return &one.driver;
}

absl::Status CudaDriver::Check(cuda::Result result, absl::string_view call) const {
  if (result == cuda::kSuccess) return absl::OkStatus();
  const std::string more = last_error_ != nullptr ? last_error_() : "";
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  std::string message = absl::StrCat(call, ": ", text != nullptr ? text : "unknown error", " (",
                                     name != nullptr ? name : "CUresult", " ", result, ")");
  if (!more.empty()) absl::StrAppend(&message, ": ", more);
  if (result == cuda::kOutOfMemory) return absl::ResourceExhaustedError(message);
  if (result == cuda::kInvalidPtx) return absl::InternalError(message);  // we made it
  return absl::UnavailableError(message);
}

absl::StatusOr<int> CudaDriver::ArchOf(int device) const {
  int major = 0, minor = 0;
  RETURN_IF_ERROR(Check(cuDeviceGetAttribute(&major, cuda::kComputeCapabilityMajor, device),
                        "cuDeviceGetAttribute"));
  RETURN_IF_ERROR(Check(cuDeviceGetAttribute(&minor, cuda::kComputeCapabilityMinor, device),
                        "cuDeviceGetAttribute"));
  return 10 * major + minor;
}

void CudaDriver::SetHostThreads(int threads) const {
  if (set_host_threads_ != nullptr) set_host_threads_(threads);
}

CudaMemory& CudaMemory::operator=(CudaMemory&& other) noexcept {
  if (this == &other) return *this;
  Free();
  driver_ = std::exchange(other.driver_, nullptr);
  address_ = std::exchange(other.address_, 0);
  return *this;
}

absl::StatusOr<CudaMemory> CudaMemory::Allocate(const CudaDriver& driver, int64_t bytes) {
  CudaMemory memory;
  if (bytes == 0) return memory;
  const cuda::Result result = driver.cuMemAlloc_v2(&memory.address_, static_cast<size_t>(bytes));
  RETURN_IF_ERROR(driver.Check(result, absl::StrCat("cuMemAlloc of ", bytes, " bytes")));
  memory.driver_ = &driver;
  return memory;
}

void CudaMemory::Free() {
  if (driver_ != nullptr) driver_->cuMemFree_v2(address_);
  driver_ = nullptr;
}

absl::StatusOr<CudaEvent> CudaEvent::Record(const CudaDriver& driver, cuda::Stream stream) {
  CudaEvent event(driver);
  RETURN_IF_ERROR(driver.Check(driver.cuEventCreate(&event.event_, 0), "cuEventCreate"));
  RETURN_IF_ERROR(driver.Check(driver.cuEventRecord(event.event_, stream), "cuEventRecord"));
  return event;
}

CudaEvent::~CudaEvent() {
  if (event_ != nullptr) driver_.cuEventDestroy_v2(event_);
}

CudaEvent::CudaEvent(CudaEvent&& other) noexcept
    : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}

absl::StatusOr<double> CudaEvent::SecondsSince(const CudaEvent& earlier) const {
  float milliseconds = 0;
  RETURN_IF_ERROR(driver_.Check(driver_.cuEventSynchronize(event_), "cuEventSynchronize"));
  RETURN_IF_ERROR(driver_.Check(driver_.cuEventElapsedTime(&milliseconds, earlier.event_, event_),
                                "cuEventElapsedTime"));
  return 1e-3 * static_cast<double>(milliseconds);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
