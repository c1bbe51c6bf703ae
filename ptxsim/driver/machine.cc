// The simulated machine: its size from the environment, its devices' contexts, the call that a test
// wants to fail.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "ptxsim/driver/machine_internal.h"

namespace hlokit::cuda {
namespace {

int64_t NumberOf(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  int64_t number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) && number > 0 ? number : otherwise;
}

}  // namespace

Machine& Machine::Get() {
  static Machine* const machine = new Machine();
  return *machine;
}

Machine::Machine() {
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

ContextHandle* Machine::ContextOf(Device device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<ContextHandle>& context = contexts_[device];
  if (context == nullptr) {
    context = std::make_unique<ContextHandle>();
    context->device = device;
  }
  return context.get();
}

bool Machine::FailsNow() {
  if (fail_at_ == 0) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  return ++calls_ == fail_at_;
}

ContextHandle*& CurrentContext() {
  static thread_local ContextHandle* current = nullptr;
  return current;
}

std::string& LastError() {
  static thread_local std::string error;
  return error;
}

Result Fail(Result code, std::string what) {
  LastError() = std::move(what);
  return code;
}

Result Enter(bool needs_init) {
  Machine& machine = Machine::Get();
  LastError().clear();
  if (machine.FailsNow()) return Fail(machine.fail_code(), "failed as HLOKIT_CUDA_SIM_FAIL asks");
  return needs_init && !machine.initialized ? kNotInitialized : kSuccess;
}

Result EnterContext() {
  if (const Result entered = Enter(); entered != kSuccess) return entered;
  if (CurrentContext() == nullptr) return kInvalidContext;
  return CurrentContext()->fault;
}

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
