// What the functions of the simulated driver share: its objects, the machine that a process
// simulates, and what each function does first.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cuda_api/cuda_api.h"
#include "ptxsim/decode.h"
#include "ptxsim/memory.h"
#include "ptxsim/parser.h"

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

// What one process simulates, as the environment says.
class Machine {
 public:
  static Machine& Get();

  int device_count() const { return device_count_; }
  size_t memory_bytes() const { return memory_bytes_; }
  // sm_90a: 90.
  int arch() const { return arch_; }
  int threads() const { return threads_; }
  void set_threads(int threads) { threads_ = threads; }
  bool checks() const { return checks_; }
  bool initialized = false;

  ContextHandle* ContextOf(Device device);

  // Whether this call is the one that HLOKIT_CUDA_SIM_FAIL wants to fail.
  bool FailsNow();
  Result fail_code() const { return fail_code_; }

 private:
  Machine();

  int device_count_ = 0, arch_ = 90, threads_ = 1;
  size_t memory_bytes_ = 0;
  bool checks_ = false;
  int64_t fail_at_ = 0, calls_ = 0;
  Result fail_code_ = kUnknown;
  std::mutex mutex_;
  std::map<Device, std::unique_ptr<ContextHandle>> contexts_;
};

// Of the calling thread: its current context, and what hlokitSimLastError says.
ContextHandle*& CurrentContext();
std::string& LastError();

// Keeps `what` as the last error; returns `code`.
Result Fail(Result code, std::string what);

// At the start of each function: what the environment wants to fail, and calls before cuInit.
Result Enter(bool needs_init = true);

// The same for functions of the current context.
Result EnterContext();

#define RETURN_UNLESS(entered) \
  if (const Result result_ = (entered); result_ != kSuccess) return result_

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
