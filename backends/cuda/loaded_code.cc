// Code on a device: its context, stream and functions, looked up by name once.
#include "backends/cuda/loaded_code.h"

#include "absl/strings/str_cat.h"
#include "backends/cuda/condition_kernels.h"
#include "support/status.h"

namespace hlokit {

LoadedCode& LoadedCode::operator=(LoadedCode&& other) noexcept {
  std::swap(driver, other.driver);
  std::swap(context, other.context);
  std::swap(module, other.module);
  std::swap(stream, other.stream);
  std::swap(functions, other.functions);
  std::swap(conditions, other.conditions);
  std::swap(set_condition, other.set_condition);
  return *this;
}

LoadedCode::~LoadedCode() {
  if (driver == nullptr || context == nullptr) return;
  driver->cuCtxSetCurrent(context);
  if (module != nullptr) driver->cuModuleUnload(module);
  if (conditions != nullptr) driver->cuModuleUnload(conditions);
  if (stream != nullptr) driver->cuStreamDestroy_v2(stream);
}

absl::Status LoadedCode::Enter() const {
  return driver->Check(driver->cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

namespace {

// Whether the program has loops or branches that only the device knows.
bool HasConditions(const GpuProgram& program) {
  for (const StepSequence& sequence : program.program.sequences)
    for (const Step& step : sequence.steps)
      if (step.kind == StepKind::kConditional || step.kind == StepKind::kWhile) return true;
  return false;
}

// A driver that does not know conditional nodes refuses the module: no fault, the host asks then.
absl::Status LoadConditions(LoadedCode& code) {
  const CudaDriver& driver = *code.driver;
  const cuda::Result loaded =
      driver.cuModuleLoadDataEx(&code.conditions, kConditionKernels, 0, nullptr, nullptr);
  if (loaded != cuda::kSuccess) {
    code.conditions = nullptr;
    return absl::OkStatus();
  }
  return driver.Check(
      driver.cuModuleGetFunction(&code.set_condition, code.conditions, "set_condition"),
      "cuModuleGetFunction of set_condition");
}

}  // namespace

absl::StatusOr<LoadedCode> LoadCode(const CudaDriver& driver, const GpuProgram& program,
                                    int ordinal) {
  constexpr size_t kLogBytes = 8192;
  LoadedCode code;
  cuda::Device device = 0;
  code.driver = &driver;
  RETURN_IF_ERROR(driver.Check(driver.cuDeviceGet(&device, ordinal), "cuDeviceGet"));
  RETURN_IF_ERROR(driver.Check(driver.cuDevicePrimaryCtxRetain(&code.context, device),
                               "cuDevicePrimaryCtxRetain"));
  RETURN_IF_ERROR(code.Enter());
  RETURN_IF_ERROR(driver.Check(driver.cuStreamCreate(&code.stream, 1), "cuStreamCreate"));
  if (program.kernels.launches.empty()) return code;
  if (driver.has_graphs() && HasConditions(program)) RETURN_IF_ERROR(LoadConditions(code));
  std::string log(kLogBytes, '\0');
  int options[] = {cuda::kJitErrorLogBuffer, cuda::kJitErrorLogBufferBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(kLogBytes)};
  const cuda::Result loaded =
      driver.cuModuleLoadDataEx(&code.module, program.ptx.c_str(), 2, options, values);
  RETURN_IF_ERROR(driver.Check(
      loaded, log[0] == '\0' ? "cuModuleLoadDataEx"
                             : absl::StrCat("cuModuleLoadDataEx (", log.c_str(), ")")));
  for (const auto& [step, launches] : program.kernels.launches) {
    for (const GpuLaunch& launch : launches) {
      cuda::Function function = nullptr;
      RETURN_IF_ERROR(
          driver.Check(driver.cuModuleGetFunction(&function, code.module, launch.kernel.c_str()),
                       absl::StrCat("cuModuleGetFunction of ", launch.kernel)));
      if (launch.shared_bytes > 0)
        RETURN_IF_ERROR(
            driver.Check(driver.cuFuncSetAttribute(function, cuda::kMaxDynamicSharedBytes,
                                                   static_cast<int>(launch.shared_bytes)),
                         absl::StrCat("cuFuncSetAttribute of ", launch.kernel)));
      code.functions[launch.kernel] = function;
    }
  }
  return code;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
