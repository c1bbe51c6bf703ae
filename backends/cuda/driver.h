// The CUDA driver as a table of functions: from libcuda.so.1, or from the simulator's library,
// which has the same functions. Nothing above this file knows which of the two it is.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cuda_api/cuda_api.h"

namespace hlokit {

class CudaDriver {
 public:
  enum class Library { kNvidia, kSimulator };

  // Loads the library and initializes it; the same driver for every call of the process. Errors:
  // Unimplemented where there is no library, it lacks a function, or there is no device.
  static absl::StatusOr<const CudaDriver*> Load(Library library);

  // OK, or an error that names the call and what the driver says of it: ResourceExhausted where
  // memory ran out, Internal where it refuses our PTX, else Unavailable.
  absl::Status Check(cuda::Result result, absl::string_view call) const;

  // sm_90 is 90. Errors: those of the driver.
  absl::StatusOr<int> ArchOf(int device) const;
  int device_count() const { return device_count_; }
  // Threads of the host, where the device is simulated; 0: one a core.
  void SetHostThreads(int threads) const;

#define HLOKIT_CUDA_FUNCTION(name, parameters) decltype(&cuda::name) name = nullptr;
#include "cuda_api/functions.def"
// Null where the driver has none of these.
#include "cuda_api/graph_functions.def"
#undef HLOKIT_CUDA_FUNCTION
  // Whether all functions for graphs are there.
  bool has_graphs() const { return has_graphs_; }

 private:
  absl::Status Open(Library library);

  int device_count_ = 0;
  bool has_graphs_ = false;
  const char* (*last_error_)() = nullptr;    // of the simulator
  void (*set_host_threads_)(int) = nullptr;  // likewise
};

// Device memory that is freed with its owner. The context that allocated it must be current then.
class CudaMemory {
 public:
  CudaMemory() = default;
  ~CudaMemory() { Free(); }
  CudaMemory(CudaMemory&& other) noexcept { *this = std::move(other); }
  CudaMemory& operator=(CudaMemory&& other) noexcept;

  // No bytes: address 0, and no call. Errors: ResourceExhausted with the figure.
  static absl::StatusOr<CudaMemory> Allocate(const CudaDriver& driver, int64_t bytes);
  cuda::DeviceAddress address() const { return address_; }

 private:
  void Free();

  const CudaDriver* driver_ = nullptr;
  cuda::DeviceAddress address_ = 0;
};

// A point on a stream, for time between two of them.
class CudaEvent {
 public:
  // Errors: those of the driver.
  static absl::StatusOr<CudaEvent> Record(const CudaDriver& driver, cuda::Stream stream);
  ~CudaEvent();
  CudaEvent(CudaEvent&& other) noexcept;
  CudaEvent& operator=(CudaEvent&& other) = delete;

  // Waits for both, in whose order the stream reached them.
  absl::StatusOr<double> SecondsSince(const CudaEvent& earlier) const;

 private:
  explicit CudaEvent(const CudaDriver& driver) : driver_(driver) {}

  const CudaDriver& driver_;
  cuda::Event event_ = nullptr;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
